#include <weft/json/lent.hpp>

#include <bit>
#include <cstring>

#include <weft/base/utf8.hpp>

namespace weft::json::detail {
namespace {

constexpr bool is_plain(char c) noexcept {
  return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
}

struct plain_run {
  const char* end;
  bool is_ascii;  // false: it may not be
};

plain_run find_plain_run(const char* at, const char* end) noexcept {
  std::uint64_t seen = 0;
  for (; end - at >= std::ptrdiff_t{sizeof seen}; at += sizeof seen) {
    const std::uint64_t word = word_at(at);
    seen |= word;
    if (const std::uint64_t stop = not_plain(word))
      return {at + std::countr_zero(stop) / 8, (seen & high_bits) == 0};
  }
  bool is_ascii = (seen & high_bits) == 0;
  for (; is_plain(*at); ++at) is_ascii &= static_cast<unsigned char>(*at) < 0x80;
  return {at, is_ascii};
}

constexpr int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  const int letter = c | 0x20;
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/// Of the four digits at `at`; nothing: they are none.
std::optional<std::uint32_t> hex_number(const char*& at) noexcept {
  std::uint32_t number = 0;
  for (int i = 0; i < 4; ++i, ++at) {
    const int digit = hex_digit(*at);
    if (digit < 0) return std::nullopt;
    number = number << 4U | static_cast<std::uint32_t>(digit);
  }
  return number;
}

/// Of an escape, `at` being behind its "\u": a character, or two halves of one.
std::optional<std::uint32_t> escaped_character(const char*& at) noexcept {
  const auto first = hex_number(at);
  if (!first || (*first & 0xfc00U) == 0xdc00U) return std::nullopt;
  if ((*first & 0xfc00U) != 0xd800U) return first;
  if (at[0] != '\\' || at[1] != 'u') return std::nullopt;
  at += 2;
  const auto second = hex_number(at);
  if (!second || (*second & 0xfc00U) != 0xdc00U) return std::nullopt;
  return 0x10000U + ((*first & 0x3ffU) << 10U) + (*second & 0x3ffU);
}

char* write_utf8(std::uint32_t character, char* out) noexcept {
  const auto put = [&out](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
  const auto put_rest = [&](unsigned shift) { put(0x80U | (character >> shift & 0x3fU)); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xc0U | character >> 6U);
    put_rest(0);
  } else if (character < 0x10000) {
    put(0xe0U | character >> 12U);
    put_rest(6);
    put_rest(0);
  } else {
    put(0xf0U | character >> 18U);
    put_rest(12);
    put_rest(6);
    put_rest(0);
  }
  return out;
}

constexpr char unescaped(char c) noexcept {
  switch (c) {
    case '"':
    case '\\':
    case '/': return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return '\0';
  }
}

/// `at` is on a backslash. What it stands for is never longer than it is.
bool decode_escape(const char*& at, char*& out) noexcept {
  ++at;
  if (*at == 'u') {
    const auto character = escaped_character(++at);
    if (!character) return false;
    out = write_utf8(*character, out);
    return true;
  }
  const char c = unescaped(*at);
  if (c == '\0') return false;
  *out++ = c;
  ++at;
  return true;
}

const char* skip_digits(const char* at) noexcept {
  while (*at >= '0' && *at <= '9') ++at;
  return at;
}

/// The end of the number that begins at `at` (RFC 8259 section 6); nullptr: there is none.
const char* number_end(const char* at) noexcept {
  const auto digits = [](const char* from) {
    const char* const end = skip_digits(from);
    return end == from ? nullptr : end;
  };
  if (*at == '-') ++at;
  at = *at == '0' ? at + 1 : digits(at);
  if (at != nullptr && *at == '.') at = digits(at + 1);
  if (at == nullptr || (*at | 0x20) != 'e') return at;
  ++at;
  if (*at == '+' || *at == '-') ++at;
  return digits(at);
}

}  // namespace

std::optional<std::string_view> decode_in_place(const char*& at, const char* end) noexcept {
  const char* const start = at + 1;
  const plain_run plain = find_plain_run(start, end);
  if (*plain.end == '"') [[likely]] {
    at = plain.end + 1;
    const std::string_view text{start, plain.end};
    return plain.is_ascii || is_utf8(text) ? std::optional{text} : std::nullopt;
  }
  at = plain.end;
  // The keeper's memory is no constant. NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
  char* out = const_cast<char*>(at);
  while (*at != '"') {
    if (*at == '\\') {
      if (!decode_escape(at, out)) return std::nullopt;
    } else if (is_plain(*at)) {
      *out++ = *at++;
    } else {
      return std::nullopt;
    }
  }
  ++at;
  const std::string_view text{start, out};
  return is_utf8(text) ? std::optional{text} : std::nullopt;
}

std::string_view scalar_token(const char* at) noexcept {
  for (const std::string_view word : {"null", "true", "false"})
    if (std::strncmp(at, word.data(), word.size()) == 0) return {at, word.size()};
  if (*at != '-' && (*at < '0' || *at > '9')) return {};
  const char* const end = number_end(at);
  return end == nullptr ? std::string_view{} : std::string_view{at, end};
}

}  // namespace weft::json::detail
