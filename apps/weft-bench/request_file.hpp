// A file of requests, which a load sends in turn: a line each.
//
//   # comments and empty lines are skipped
//   GET /catalog?page=2
//   POST /ping {"sequence": 2}
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace weft::bench {

struct request_line {
  std::string method;
  std::string path;
  std::string body;  // what is left of the line

  friend bool operator==(const request_line&, const request_line&) = default;
};

// At least one. The error is a sentence for the user, with the line's number.
std::expected<std::vector<request_line>, std::string> parse_requests(std::string_view text);

}  // namespace weft::bench
