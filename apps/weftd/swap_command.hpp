// `weftd swap`: has a server that runs take another file for one of its databases.
#pragma once

namespace weftd {

/// With the words of its own command line. The process's exit code.
[[nodiscard]] int swap_database(int argc, char** argv);

}  // namespace weftd
