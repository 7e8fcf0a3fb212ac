// A Set-Cookie field's value as a client reads it (RFC 6265bis section 5.6).
//
// Contract: internal to http. As lenient as browsers: unknown attributes are ignored, and the last
// of equal ones counts. Views of the text.
//
//   const auto read = read_set_cookie("id=7; Path=/a; Max-Age=60", now);   // read->max_age == 60
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include <weft/http/cookies.hpp>

namespace weft::http {

struct set_cookie_text {
  std::string_view name{};  // may be empty
  std::string_view value{};
  std::string_view domain{};  // without a dot before it; empty: none
  std::string_view path{};
  std::optional<std::int64_t> expires{};  // seconds since 1970-01-01 00:00:00 UTC
  http::same_site same_site = http::same_site::unset;
  bool secure = false;
  bool http_only = false;
};

/// `now` is in seconds since then. The error is a clause, in static storage.
[[nodiscard]] std::expected<set_cookie_text, std::string_view> read_set_cookie(
    std::string_view text, std::int64_t now) noexcept;

/// A date as loosely as section 5.1.1 has it; none: it is no date.
[[nodiscard]] std::optional<std::int64_t> parse_cookie_date(std::string_view text) noexcept;

}  // namespace weft::http
