// The values of the header fields that decide where a message ends and what becomes of its
// connection.
//
// Contract: pure functions on a field's value without surrounding white space; the bytes have
// passed the parser, so they are visible characters, SP and HTAB. Private to weft/http's sources.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <weft/http/fault.hpp>
#include <weft/http/scan.hpp>

namespace weft::http {

// 1*DIGIT below 10^18 (RFC 9112 section 6.2); nothing else, no list.
[[nodiscard]] std::optional<std::uint64_t> parse_long_content_length(
    std::string_view value) noexcept;
[[nodiscard]] inline std::optional<std::uint64_t> parse_content_length(
    std::string_view value) noexcept {
  if (value.size() <= 18) [[likely]]
    return scan::decimal(value);
  return parse_long_content_length(value);  // leading zeros
}

// `none` for exactly "chunked" in any case; else what is wrong with it (RFC 9112 sections 6.1
// and 6.3).
[[nodiscard]] fault_kind check_transfer_encoding(std::string_view value) noexcept;

// The Connection options we act on (RFC 9110 section 7.6.1).
struct connection_options {
  bool close = false;
  bool keep_alive = false;
  bool upgrade = false;
};
// None where the value is not a list of tokens; empty elements are passed over (RFC 9110
// section 5.6.1.2).
[[nodiscard]] std::optional<connection_options> parse_connection(std::string_view value) noexcept;

// Whether all expectations in the value are 100-continue (RFC 9110 section 10.1.1), and there is
// one.
[[nodiscard]] bool expects_only_continue(std::string_view value) noexcept;

}  // namespace weft::http
