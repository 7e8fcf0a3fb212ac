// The cases of tests/conformance/http1_responses/, read from their files; README.md there describes
// the format.
//
// Contract: read once, in the order of the files' names; throws std::runtime_error for a line that
// is not understood.
//
//   for (const response_case& one : response_cases())
//     check(one, describe_response(one.bytes, {}, one.how));
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tests/conformance/case_files.hpp>
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

inline bool set_value(response_case& to, const std::string& key, const std::string& value) {
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
  } else {
    return false;
  }
  return true;
}

}  // namespace conformance_detail

[[nodiscard]] inline const std::vector<response_case>& response_cases() {
  static const std::vector<response_case> all =
      read_case_files<response_case>("http1_responses", &conformance_detail::set_value);
  return all;
}

}  // namespace weft::http
