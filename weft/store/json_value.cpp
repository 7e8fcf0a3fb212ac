#include <weft/store/json_value.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <weft/base/utf8.hpp>
#include <weft/store/base64.hpp>
#include <weft/store/date_time.hpp>
#include <weft/store/decimal.hpp>
#include <weft/store/number_text.hpp>
#include <weft/store/tagged_value.hpp>

namespace weft::store {
namespace {

constexpr std::uint64_t each_byte = 0x0101010101010101;
constexpr std::uint64_t high_bits = 0x8080808080808080;

constexpr bool is_plain(unsigned char c) noexcept {
  return c >= ' ' && c < 0x80 && c != '"' && c != '\\';
}

/// The high bit of each byte of `word` that is zero, and perhaps of bytes above such a one.
constexpr std::uint64_t zero_bytes(std::uint64_t word) noexcept {
  return (word - each_byte) & ~word & high_bits;
}

#if defined(__SSE2__)
/// Which of the 16 characters at `text` are not plain, a bit each.
unsigned special_of_16(const char* text) noexcept {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i quotes = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                      _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
  // Below a blank is, to a comparison with signs, also what is no ASCII.
  return static_cast<unsigned>(
      _mm_movemask_epi8(_mm_or_si128(quotes, _mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')))));
}

/// plain_size() of 16 characters or more. The last 16 may overlap those before.
std::size_t plain_size_by_16(std::string_view text) noexcept {
  const std::size_t last = text.size() - 16;
  for (std::size_t at = 0;; at = std::min(at + 16, last)) {
    if (const unsigned special = special_of_16(text.data() + at))
      return at + static_cast<unsigned>(std::countr_zero(special));
    if (at == last) return text.size();
  }
}
#endif

/// How many characters at the start of `text` go into JSON as they are, and are ASCII.
std::size_t plain_size(std::string_view text) noexcept {
#if defined(__SSE2__)
  if (text.size() >= 16) return plain_size_by_16(text);
#endif
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    const std::uint64_t below_blank = (word - each_byte * ' ') & ~word & high_bits;
    const std::uint64_t special = (word & high_bits) | below_blank |
                                  zero_bytes(word ^ (each_byte * '"')) |
                                  zero_bytes(word ^ (each_byte * '\\'));
    if (special != 0) break;
  }
  while (at < text.size() && is_plain(static_cast<unsigned char>(text[at]))) ++at;
  return at;
}

void append_escaped(char c, std::string& out) {
  static constexpr std::string_view hex = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += hex[byte >> 4];
  out += hex[byte & 15];
}

/// One character that is not plain; how many bytes it has.
std::size_t append_other(std::string_view text, std::string& out, bool& is_utf8) {
  if (static_cast<unsigned char>(text.front()) < 0x80) {
    append_escaped(text.front(), out);
    return 1;
  }
  const std::size_t size = utf8_size(text);
  if (size == 0) {
    out += "\xef\xbf\xbd";  // U+FFFD
    is_utf8 = false;
    return 1;
  }
  out.append(text.substr(0, size));
  return size;
}

/// In one step: characters that are appended one by one are most of what a short row costs.
void append_quoted(std::string_view plain, std::string& out) {
  const std::size_t before = out.size();
  out.resize_and_overwrite(before + plain.size() + 2, [&](char* bytes, std::size_t size) {
    bytes[before] = bytes[size - 1] = '"';
    plain.copy(bytes + before + 1, plain.size());
    return size;
  });
}

/// Whether it is UTF-8, so that it was told as it is.
bool append_string(std::string_view text, std::string& out) {
  if (plain_size(text) == text.size()) [[likely]] {
    append_quoted(text, out);
    return true;
  }
  bool is_utf8 = true;
  out += '"';
  for (;;) {
    const std::size_t plain = plain_size(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    text.remove_prefix(append_other(text, out, is_utf8));
  }
  out += '"';
  return is_utf8;
}

/// What append_string() appends.
std::size_t string_size(std::string_view text) noexcept {
  constexpr std::string_view short_escapes = "\"\\\n\r\t";
  std::size_t size = 2;
  for (;;) {
    const std::size_t plain = plain_size(text);
    size += plain;
    text.remove_prefix(plain);
    if (text.empty()) return size;
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      size += short_escapes.contains(text.front()) ? 2 : 6;
      text.remove_prefix(1);
      continue;
    }
    const std::size_t character = utf8_size(text);
    size += character == 0 ? 3 : character;  // U+FFFD has three
    text.remove_prefix(character == 0 ? 1 : character);
  }
}

void append_bytes(std::string_view bytes, std::string& out) {
  out += '"';
  append_base64(bytes, out);
  out += '"';
}

template <class Number, class... Format>
void append_number(Number number, std::string& out, Format... format) {
  char digits[400];  // a double with all its digits before the point
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number, format...).ptr);
}

/// Other programs than ours write what a FLOAT cannot be.
bool is_float(double number) noexcept {
  return std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max()) &&
         static_cast<double>(static_cast<float>(number)) == number;
}

/// The shortest digits that read back the same, in the column's shape; false: they do not fit.
bool append_decimal(double number, const column& of, std::string& out) {
  char digits[32];
  decimal_text room;
  const auto text = canonical_decimal(
      {digits, std::to_chars(digits, digits + sizeof digits, number).ptr},
      {.precision = of.precision, .scale = of.scale, .is_unsigned = of.is_unsigned}, room);
  if (text) out += *text;
  return text.has_value();
}

void append_real(double number, const column& of, std::string& out) {
  if (!std::isfinite(number)) {
    out += "null";
  } else if (of.type == column_type::float32 && is_float(number)) {
    append_number(static_cast<float>(number), out);
  } else if (of.type == column_type::decimal && of.precision != 0) {
    if (append_decimal(number, of, out)) return;
    append_number(number, out, std::chars_format::fixed, static_cast<int>(of.scale));
  } else {
    const std::size_t before = out.size();
    append_number(number, out);
    // Where the column may have integers, too, its point or exponent identifies a REAL.
    const bool has_integers = of.type == column_type::any || of.keeps_form;
    if (has_integers && out.find_first_of(".e", before) == std::string::npos) out += ".0";
  }
}

/// RFC 8259 section 6, but for an exponent.
bool is_plain_number(std::string_view text) noexcept {
  const auto skip_digits = [&text] {
    const std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(size);
    return size;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool begins_with_zero = text.starts_with('0');
  const std::size_t whole = skip_digits();
  if (whole == 0 || (begins_with_zero && whole > 1)) return false;
  if (text.empty()) return true;
  if (text.front() != '.') return false;
  text.remove_prefix(1);
  return skip_digits() > 0 && text.empty();
}

void append_bits(std::uint64_t bits, const column& of, std::string& out) {
  const std::size_t size = std::clamp<std::size_t>((of.length + 7) / 8, 1, 8);
  const std::uint64_t in_order =
      std::endian::native == std::endian::little ? std::byteswap(bits) : bits;
  char bytes[8];
  std::memcpy(bytes, &in_order, 8);
  append_bytes({bytes + 8 - size, size}, out);
}

/// A whole number: of a BIT, or of a DECIMAL, which has digits behind the point.
template <class Integer>
void append_integer(Integer number, const column& of, std::string& out) {
  if (of.type == column_type::bit) {
    append_bits(static_cast<std::uint64_t>(number), of, out);
    return;
  }
  append_number(number, out);
  if (of.type != column_type::decimal || of.scale == 0 || of.precision == 0) return;
  out += '.';
  out.append(of.scale, '0');
}

bool has_fraction(column_type type) noexcept {
  return type == column_type::time || type == column_type::date_time ||
         type == column_type::timestamp;
}

/// A text that is not UTF-8 is tagged in a dynamic column, since it may be written again.
void append_characters(std::string_view text, const column& of, std::string& out) {
  const std::size_t before = out.size();
  if (append_string(text, out) || !of.is_dynamic) return;
  out.resize(before);
  append_tagged(value::text(text), out);
}

/// With as many fraction digits as the column has, whatever wrote it.
void append_time(std::string_view text, const column& of, std::string& out) {
  temporal_text room;
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::size_t given = point == text.size() ? 0 : text.size() - point - 1;
  const std::size_t wanted = of.fraction_digits;
  if (given == wanted || point + 1 + wanted > room.size()) {
    static_cast<void>(append_string(text, out));
    return;
  }
  room.fill('0');
  text.copy(room.data(), std::min(text.size(), point + 1 + wanted));
  room[point] = '.';
  static_cast<void>(append_string({room.data(), wanted == 0 ? point : point + 1 + wanted}, out));
}

void append_text(std::string_view text, const column& of, std::string& out) {
  if (of.type == column_type::decimal && is_plain_number(text)) {
    out += text;
  } else if (of.type == column_type::character) {
    append_characters(text.substr(0, text.find_last_not_of(' ') + 1), of, out);
  } else if (has_fraction(of.type) && !of.keeps_form) {
    append_time(text, of, out);
  } else if (is_bytes(of.type)) {
    append_bytes(text, out);
  } else {
    append_characters(text, of, out);
  }
}

}  // namespace

void append_json(std::string_view text, std::string& out) {
  static_cast<void>(append_string(text, out));  // what is no UTF-8 is U+FFFD
}

std::size_t json_size_max(const value& content, const column& of) noexcept {
  constexpr std::size_t decimal = 512;  // a double with all its digits
  constexpr std::size_t number = 32;
  constexpr std::size_t tag = 64;
  if (content.kind() != value_kind::text && content.kind() != value_kind::bytes)
    return of.type == column_type::decimal ? decimal : number;
  const std::string_view text = content.as_text();
  const bool may_be_base64 =
      content.kind() == value_kind::bytes || is_bytes(of.type) || of.is_dynamic;
  const std::size_t in_base64 = may_be_base64 ? (text.size() + 2) / 3 * 4 : 0;
  return tag + std::max(string_size(text), in_base64);
}

void append_json(const value& content, const column& of, std::string& out) {
  if (of.is_dynamic && !is_plain(content, of)) [[unlikely]]
    return append_tagged(content, out);
  const bool is_number = content.kind() == value_kind::int64 ||
                         content.kind() == value_kind::uint64 ||
                         content.kind() == value_kind::float64;
  if (is_number && is_text(of.type)) {  // of an engine that made one of it
    out += '"';
    append_json(content, column{.name = {}, .type = column_type::float64}, out);
    out += '"';
    return;
  }
  switch (content.kind()) {
    case value_kind::null: out += "null"; break;
    case value_kind::int64: append_integer(content.as_integer(), of, out); break;
    case value_kind::uint64: append_integer(content.as_natural(), of, out); break;
    case value_kind::float64: append_real(content.as_real(), of, out); break;
    case value_kind::text: append_text(content.as_text(), of, out); break;
    case value_kind::bytes:
      if (is_text(of.type) || (of.makes_numbers && looks_like_number(content.as_text())))
        append_text(content.as_text(), of, out);
      else
        append_bytes(content.as_text(), out);
      break;
  }
}

}  // namespace weft::store
