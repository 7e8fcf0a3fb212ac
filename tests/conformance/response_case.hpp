// The cases of tests/conformance/http1_responses/, read from their files; README.md there describes
// the format.
//
// Contract: read once, in the order of the files' names; throws std::runtime_error for a line that
// is not understood.
//
//   for (const response_case& one : response_cases())
//     check(one, describe_response(one.bytes, {}, one.how));
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tests/conformance/conformance_case.hpp>
#include <tests/conformance/response_outcome.hpp>

namespace weft::http {

struct response_case {
  std::string name;
  std::string file;
  std::string rule;
  std::string bytes;
  std::string expect;              // "accept", "incomplete", "cut" or "refused"
  std::string why;                 // of what is refused: the reason
  std::vector<std::string> facts;  // lines that the outcome must hold
  response_reading how;
};

namespace conformance_detail {

inline void add_line(response_case& to, const std::string& line) {
  const std::size_t colon = line.find(": ");
  if (colon == line.npos) throw std::runtime_error("no key in: " + line);
  const std::string key = line.substr(0, colon);
  const std::string value = line.substr(colon + 2);
  if (key == "send") {
    to.bytes += unescape(value);
  } else if (key.starts_with("send*")) {
    for (int i = std::stoi(key.substr(5)); i > 0; --i) to.bytes += unescape(value);
  } else if (key == "asked") {
    to.how.asked = parse_method(value).value();
  } else if (key == "closes") {
    to.how.closes = value == "yes";
  } else if (key == "limit") {
    set_limit(to.how.bounds, value);
  } else if (key == "expect") {
    to.expect = value;
  } else if (key == "why") {
    to.why = value;
  } else if (key == "fact") {
    to.facts.push_back(unescape(value));
  } else if (key == "rule") {
    to.rule = value;
  } else {
    throw std::runtime_error("unknown key: " + key);
  }
}

inline std::vector<response_case> read_response_cases() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{"tests/conformance/http1_responses"})
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<response_case> cases;
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

[[nodiscard]] inline const std::vector<response_case>& response_cases() {
  static const std::vector<response_case> all = conformance_detail::read_response_cases();
  return all;
}

}  // namespace weft::http
