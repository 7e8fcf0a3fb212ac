// `weftd import`: puts the rows of a file into a table.
#pragma once

namespace weftd {

/// With the words of its own command line. The process's exit code.
[[nodiscard]] int import_file(int argc, char** argv);

}  // namespace weftd
