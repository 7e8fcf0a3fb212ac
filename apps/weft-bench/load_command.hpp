// `weft-bench load`.
//
//   return weft::bench::run_load_command({"http://127.0.0.1:8080/ping", "-c", "400"});
#pragma once

#include <span>
#include <string_view>

namespace weft::bench {

// `arguments` without the program's and the command's name. The exit status, as the help says.
// Takes over SIGINT and SIGTERM.
int run_load_command(std::span<const std::string_view> arguments);

}  // namespace weft::bench
