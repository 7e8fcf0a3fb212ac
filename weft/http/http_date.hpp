// Dates as clients send them (RFC 9110 section 5.6.7). Ours are written by date.hpp.
//
// Contract: all three forms: "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
// "Sun Nov  6 08:49:37 1994", letter by letter: names in their case, two digits, one space, and a
// date that there is. The name of the day must be one, but need not fit: it carries nothing. A year
// of two digits that seems more than 50 years ahead is of the century before. A leap second is the
// last one of its minute.
//
//   http::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", now);   // 784111777
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::http {

// Seconds since 1970-01-01 00:00:00 UTC; `now` is in the same, and matters for years of two digits.
[[nodiscard]] std::optional<std::int64_t> parse_http_date(std::string_view text,
                                                          std::int64_t now) noexcept;

}  // namespace weft::http
