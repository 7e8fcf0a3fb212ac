// Errors as documents that programs can read: RFC 9457, application/problem+json.
//
// Contract: write_problem() replaces `out` and allocates nothing once that is large enough. The
// document's type is "about:blank", which RFC 9457 section 4.2.1 lets us leave out. `offset` and
// `path` say where in the request's body the fault is, when it is there.
//
//   write_problem({.status = status::bad_request, .detail = "no number", .offset = 13}, out);
//   // {"title":"Bad Request","status":400,"detail":"no number","offset":13}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/http/status.hpp>

namespace weft::http {

inline constexpr std::string_view problem_content_type = "application/problem+json";

struct problem {
  http::status status = http::status::internal_server_error;
  std::string_view title{};                // empty: the status's reason phrase
  std::string_view detail{};               // empty: none
  std::optional<std::uint64_t> offset{};   // bytes into the body
  std::optional<std::string_view> path{};  // RFC 6901 pointer into the body
};

void write_problem(const problem& what, std::string& out);

}  // namespace weft::http
