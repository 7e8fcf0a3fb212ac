#include <weft/base/log_escape.hpp>

#include <array>
#include <cstddef>

namespace weft::log {
namespace {

struct character {
  char32_t code;
  std::size_t bytes;  // 0: the first byte begins none
};

constexpr bool is_continuation(unsigned char byte) noexcept { return (byte & 0xc0U) == 0x80; }

/// The first of `text`, by RFC 3629: neither overlong nor a surrogate.
character first_of(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {first, 0};
  char32_t code = first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if (!is_continuation(next)) return {first, 0};
    code = code << 6U | (next & 0x3fU);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < least[bytes] || code > 0x10ffff || is_surrogate) return {first, 0};
  return {code, bytes};
}

bool does_harm(char32_t code) noexcept {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

void append_number(std::string& out, std::string_view before, char32_t code, unsigned digits) {
  constexpr std::string_view hexadecimal = "0123456789abcdef";
  out += before;
  while (digits-- > 0) out += hexadecimal[code >> (4 * digits) & 0xfU];
}

void append_plain(std::string& out, character harmful) {
  if (harmful.code == '\n')
    out += "\\n";
  else if (harmful.code < 0x80 || harmful.bytes == 0)
    append_number(out, "\\x", harmful.code, 2);
  else
    append_number(out, "\\u", harmful.code, 4);
}

void append_json(std::string& out, character harmful) {
  switch (harmful.code) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: append_number(out, "\\u", harmful.bytes == 0 ? 0xfffd : harmful.code, 4);
  }
}

}  // namespace

void append_escaped(std::string& out, std::string_view text, escaping how) {
  const bool is_json = how == escaping::json;
  std::size_t clean = 0;  // bytes that go as they are
  while (clean < text.size()) {
    const character next = first_of(text.substr(clean));
    const bool is_markup = is_json && (next.code == '"' || next.code == '\\');
    if (next.bytes != 0 && !does_harm(next.code) && !is_markup) {
      clean += next.bytes;
      continue;
    }
    out += text.substr(0, clean);
    is_json ? append_json(out, next) : append_plain(out, next);
    text.remove_prefix(clean + (next.bytes == 0 ? 1 : next.bytes));
    clean = 0;
  }
  out += text;
}

}  // namespace weft::log
