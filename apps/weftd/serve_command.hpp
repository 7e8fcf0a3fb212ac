// `weftd`: serves until a signal ends it.
#pragma once

namespace weftd {

/// With the words of its own command line. `is_demo`: with a database to try things with. The
/// process's exit code.
[[nodiscard]] int serve(int argc, char** argv, bool is_demo);

}  // namespace weftd
