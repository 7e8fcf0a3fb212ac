// What is said over the control socket: one line of JSON each way.
//
// Contract: `weftd swap` asks, control_api answers, and the connection ends. A path has at most
// control_line_bytes, with all else of the line.
//
//   weft::json::write(control_request{.command = "swap", ...}, line);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weftd {

inline constexpr std::size_t control_line_bytes = 64UL * 1024;
/// Beside the databases.
inline constexpr std::string_view control_socket_name = ".weftd.sock";

struct control_request {
  std::string command;
  std::string database;
  std::string file;
  bool keepSchema = false;
};

struct control_reply {
  std::string error;  // for people; empty: it is done
  std::string kept;
  std::vector<std::string> differences;
};

}  // namespace weftd
