// The parts of a request target (RFC 9112 section 3.2, RFC 3986).
//
// Contract: pure functions on text. A path is split at its slashes first and decoded afterwards, a
// piece at a time, so that "%2F" inside a segment never becomes a separator. A path and a query may
// hold bytes that a URI should have percent-encoded, since clients send them: brackets, braces,
// quotes, "|", "^", "`", "<", ">", a backslash and bytes above 0x7F. They mean what their escapes
// mean: a backslash is no separator. Control characters, the space and "#" are refused.
//
//   std::string room;
//   std::string_view path = head.path();
//   if (head.path_needs_normalizing()) path = normalize_path(path, room);
//   auto name = percent_decode(match.parameter("name"));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/http/fault.hpp>
#include <weft/http/method.hpp>
#include <weft/http/parsed_head.hpp>

namespace weft::http {

// `host [":" port]` without user information: a reg-name, an IPv4 address or a bracketed IPv6
// address, not empty; the port at most 65535, or missing after its colon (RFC 3986 section 3.2.3
// allows that).
[[nodiscard]] bool is_host_and_port(std::string_view text) noexcept;

// Whether each "%" stands before two hexadecimal digits.
[[nodiscard]] bool has_valid_escapes(std::string_view text) noexcept;

// What a request target is, beyond a plain path; positions count from its first byte.
struct target_parts {
  fault_kind fault = fault_kind::none;
  target_form form = target_form::origin;
  bool path_needs_normalizing = false;
  std::uint32_t path_begin = 0;
  std::uint32_t path_end = 0;       // path_begin == path_end: no path was sent
  std::string_view authority = {};  // of an absolute or authority-form target
};
// Takes any target apart that consists of scan::set::target.
[[nodiscard]] target_parts split_target(method asked, std::string_view target) noexcept;

// Whether the path of a request may not hold the byte that the escape at `percent` stands for: NUL,
// CR and LF only serve to deceive what lies behind us. The escape must be a valid one.
[[nodiscard]] bool is_forbidden_escape(const char* percent) noexcept;

// The same path in its one normal form (RFC 3986 section 6.2.2): escapes of unreserved characters
// decoded, the others in capitals, what a URI must have encoded encoded, dot segments removed
// (never above the root). `path` begins with "/" and has valid escapes. The view lies in `room`,
// which is overwritten.
[[nodiscard]] std::string_view normalize_path(std::string_view path, std::string& room);

// A path and a query as they may be sent: each byte that no URI has is percent-encoded. What is
// encoded stays as it is.
[[nodiscard]] std::string encode_target(std::string_view target);

// Whether the path of `target`, a path that begins with "/" and a query, or either, has segments
// that are "." or "..", or mean that with encoded dots ("%2e").
[[nodiscard]] bool has_dot_segments(std::string_view target) noexcept;

// Such a `target` as a client sends it: as encode_target() has it, and without the
// dot segments of the path (RFC 3986 section 5.2.4), encoded dots included, as browsers do it.
// Other escapes stay as they are.
[[nodiscard]] std::string resolve_target(std::string_view target);

// The bytes that `text` encodes; errc::invalid_argument where an escape is malformed. "+" stays
// "+".
[[nodiscard]] result<std::string> percent_decode(std::string_view text);

// The raw value of the first `name=value` or `name` in a query string; names are compared as sent.
[[nodiscard]] std::optional<std::string_view> find_query_parameter(std::string_view query,
                                                                   std::string_view name) noexcept;

}  // namespace weft::http
