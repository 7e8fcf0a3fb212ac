// The cases of tests/conformance/websocket/, read from their files; README.md there describes the
// format.
//
// Contract: read once, in the order of the files' names; throws std::runtime_error for a line that
// is not understood.
//
//   for (const websocket_case& one : websocket_cases())
//     check(one, describe_frames(one.bytes, {}, one.how));
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tests/conformance/case_files.hpp>
#include <tests/conformance/conformance_case.hpp>
#include <tests/conformance/websocket_outcome.hpp>

namespace weft::http::ws {

struct websocket_case {
  std::string name;
  std::string file;
  std::string rule;
  std::string bytes;
  std::string events;  // as describe_frames() gives them
  frame_reading how;
};

namespace conformance_detail {

inline std::string from_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    bytes += static_cast<char>(std::stoi(std::string{text.substr(at, 2)}, nullptr, 16));
    at += 2;
  }
  return bytes;
}

inline bool set_value(websocket_case& to, const std::string& key, const std::string& value) {
  if (key == "hex") {
    to.bytes += from_hex(value);
  } else if (key.starts_with("hex*")) {
    const std::string once = from_hex(value);
    for (int i = std::stoi(key.substr(4)); i > 0; --i) to.bytes += once;
  } else if (key == "self") {
    to.how.self = value == "client" ? role::client : role::server;
  } else if (key == "deflate") {
    to.how.inflates = true;
    to.how.keeps_context = value == "context";
  } else if (key == "limit") {
    to.how.message_bytes = std::stoul(value);
  } else if (key == "event") {
    to.events += http::conformance_detail::unescape(value) + "\n";
  } else {
    return false;
  }
  return true;
}

}  // namespace conformance_detail

[[nodiscard]] inline const std::vector<websocket_case>& websocket_cases() {
  static const std::vector<websocket_case> all =
      read_case_files<websocket_case>("websocket", &conformance_detail::set_value);
  return all;
}

}  // namespace weft::http::ws
