// `weftd export`: writes the rows of a table as text.
#pragma once

namespace weftd {

/// With the words of its own command line. The process's exit code.
[[nodiscard]] int export_table(int argc, char** argv);

}  // namespace weftd
