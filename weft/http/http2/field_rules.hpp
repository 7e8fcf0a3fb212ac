// What HTTP/2 asks of a field of a message, beyond what HTTP/1.1 does (RFC 9113 section 8.2).
//
// Contract: internal to http. Pure functions. What stands inside of a value is for the parser of
// HTTP/1.1.
//
//   if (!may_stand(name, value)) malformed = true;
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <weft/http/headers.hpp>
#include <weft/http/scan.hpp>

namespace weft::http::http2 {

namespace detail {

constexpr std::array<bool, 256> make_name_bytes() {
  std::array<bool, 256> may{};
  for (unsigned byte = 0; byte < may.size(); ++byte) {
    const bool is_capital = byte >= 'A' && byte <= 'Z';
    const auto sets = scan::detail::table[byte];
    may[byte] = (sets & static_cast<std::uint8_t>(scan::set::token)) != 0 && !is_capital;
  }
  return may;
}
inline constexpr std::array<bool, 256> name_bytes = make_name_bytes();

}  // namespace detail

/// A token without capitals.
[[nodiscard]] inline bool is_field_name(std::string_view name) noexcept {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return detail::name_bytes[static_cast<unsigned char>(c)];
  });
}

/// Without NUL, CR, LF and other control characters (section 8.2.1, RFC 9110 section 5.5).
[[nodiscard]] inline bool is_field_value(std::string_view value) noexcept {
  return scan::consists_of<scan::set::field>(value);
}

/// Whether it means something to a connection of HTTP/1.1 alone (section 8.2.2).
[[nodiscard]] inline bool belongs_to_connection(std::string_view name) noexcept {
  switch (name.size()) {
    case 7: return name == "upgrade";
    case 10: return name == "connection" || name == "keep-alive";
    case 16: return name == "proxy-connection";
    case 17: return name == "transfer-encoding";
    default: return false;
  }
}

/// Of a request, or of its trailers: a field that is no pseudo-header field.
[[nodiscard]] inline bool may_stand(std::string_view name, std::string_view value) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  if (!is_field_name(name) || belongs_to_connection(name)) return false;
  if (!value.empty() && (is_space(value.front()) || is_space(value.back()))) return false;
  return name != "te" || equals_ignoring_case(value, "trailers");
}

}  // namespace weft::http::http2
