// The cases of tests/conformance/websocket/, read from their files; README.md there describes the
// format.
//
// Contract: read once, in the order of the files' names; throws std::runtime_error for a line that
// is not understood.
//
//   for (const websocket_case& one : websocket_cases())
//     check(one, describe_frames(one.bytes, {}, one.how));
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

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

inline void add_line(websocket_case& to, const std::string& line) {
  const std::size_t colon = line.find(": ");
  if (colon == line.npos) throw std::runtime_error("no key in: " + line);
  const std::string key = line.substr(0, colon);
  const std::string value = line.substr(colon + 2);
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
  } else if (key == "rule") {
    to.rule = value;
  } else {
    throw std::runtime_error("unknown key: " + key);
  }
}

inline std::vector<websocket_case> read_websocket_cases() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{"tests/conformance/websocket"})
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<websocket_case> cases;
  for (const auto& path : files) {
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      if (line[0] != '[') {
        add_line(cases.back(), line);
        continue;
      }
      cases.emplace_back();
      cases.back().name = line.substr(1, line.size() - 2);
      cases.back().file = path.filename();
    }
  }
  return cases;
}

}  // namespace conformance_detail

[[nodiscard]] inline const std::vector<websocket_case>& websocket_cases() {
  static const std::vector<websocket_case> all = conformance_detail::read_websocket_cases();
  return all;
}

}  // namespace weft::http::ws
