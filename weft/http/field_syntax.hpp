// What the values of header fields are made of: tokens, quoted strings, lists, parameters.
//
// Contract: pure functions on a value that has passed the parser; each takes its piece off the
// front of the text that it is given. Nothing is allocated. Private to weft/http's sources.
//
//   for (std::string_view rest = accept; !rest.empty();)
//     use(take_element(rest));
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include <weft/http/scan.hpp>

namespace weft::http::field_syntax {

[[nodiscard]] constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }

// Without the optional white space around it (OWS, RFC 9110 section 5.6.3).
[[nodiscard]] constexpr std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// 1*tchar (RFC 9110 section 5.6.2).
[[nodiscard]] inline bool is_token(std::string_view text) noexcept {
  return !text.empty() && scan::consists_of<scan::set::token>(text);
}

// The next element of a list (RFC 9110 section 5.6.1), trimmed; it may be empty. `separator`s
// inside of a quoted string do not count. Where a quoted string does not end, the element is all
// that is left, the open quote included: no grammar takes that for valid.
[[nodiscard]] std::string_view take_element(std::string_view& list, char separator = ',') noexcept;

// A name and its value, which may be a quoted string; `quoted` tells whether it was one, and
// `value` is then what stands between the quotes, with its backslashes.
struct parameter {
  std::string_view name;
  std::string_view value;
  bool quoted = false;
};
// token "=" ( token / quoted-string ), no white space around the "=" (RFC 9110 section 5.6.6);
// none where `text` is anything else.
[[nodiscard]] std::optional<parameter> parse_parameter(std::string_view text) noexcept;

using parameter_parser = std::optional<parameter> (*)(std::string_view text) noexcept;

// As parse_parameter(), with what clients send and where it can be read in one way only: white
// space around the "=" (RFC 2045), parentheses in a value without quotes, since
// encodeURIComponent() leaves them as they are, and no value, with or without the "=", which is
// empty.
[[nodiscard]] std::optional<parameter> parse_loose_parameter(std::string_view text) noexcept;

// The next of `*( OWS ";" OWS [ parameter ] )` (RFC 9110 section 5.6.6); empty pieces are passed
// over. False where the text is malformed: nothing may be believed of it then. True with an empty
// name at the end.
[[nodiscard]] bool take_parameter(std::string_view& rest, parameter& next,
                                  parameter_parser parse = &parse_parameter) noexcept;

// The text that a parameter's value means: a view of it, or, where a backslash hides a character,
// of `room`, which must have as many bytes as the value.
[[nodiscard]] std::string_view unquote(const parameter& of, std::span<char> room) noexcept;

}  // namespace weft::http::field_syntax
