#include <weft/http/http2/field_encoder.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include <weft/http/field_syntax.hpp>
#include <weft/http/http2/field_rules.hpp>
#include <weft/http/http2/static_names.hpp>
#include <weft/http/reply_head.hpp>

namespace weft::http::http2 {
namespace {

// RFC 7541 section 6: how a field's first byte begins, and how many of its bits are a number.
constexpr unsigned indexed = 0x80;
constexpr unsigned added_to_table = 0x40;
constexpr unsigned new_table_size = 0x20;
constexpr unsigned plain = 0x00;
constexpr unsigned plain_bits = 4;

constexpr unsigned static_entries = 61;
constexpr std::size_t beside_entry_bytes = 32;  // section 4.1
constexpr std::size_t length_digits = 20;

/// Section 5.1.
char* put_integer(char* out, unsigned pattern, unsigned bits, std::uint64_t number) noexcept {
  const unsigned most = (1U << bits) - 1;
  if (number < most) [[likely]] {
    *out++ = static_cast<char>(pattern | number);
    return out;
  }
  *out++ = static_cast<char>(pattern | most);
  for (number -= most; number >= 0x80; number >>= 7U)
    *out++ = static_cast<char>(0x80U | (number & 0x7fU));
  *out++ = static_cast<char>(number);
  return out;
}

/// Section 5.2.
char* put_string(char* out, std::string_view text) noexcept {
  return http::detail::put(put_integer(out, 0, 7, text.size()), text);
}

char* put_status(char* out, status code) noexcept {
  switch (std::to_underlying(code)) {  // those of the static table
    case 200: *out = static_cast<char>(indexed | 8U); return out + 1;
    case 204: *out = static_cast<char>(indexed | 9U); return out + 1;
    case 206: *out = static_cast<char>(indexed | 10U); return out + 1;
    case 304: *out = static_cast<char>(indexed | 11U); return out + 1;
    case 400: *out = static_cast<char>(indexed | 12U); return out + 1;
    case 404: *out = static_cast<char>(indexed | 13U); return out + 1;
    case 500: *out = static_cast<char>(indexed | 14U); return out + 1;
    default: break;
  }
  constexpr std::size_t before_code = std::string_view{"HTTP/1.1 "}.size();
  constexpr std::size_t digits = 3;
  *out = static_cast<char>(plain | 8U);
  return put_string(out + 1, status_line(code).substr(before_code, digits));
}

char small_letter_of(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

/// The name is written in small letters where it would stand, which may be for nothing.
char* put_line_of(char* out, std::string_view name, std::string_view value) noexcept {
  char* const begin = out;
  *out = static_cast<char>(plain);
  out = put_integer(out + 1, 0, 7, name.size());
  const std::string_view small{out, name.size()};
  out = std::ranges::transform(name, out, small_letter_of).out;
  if (belongs_to_connection(small)) return begin;
  if (const unsigned known = static_name(small); known != 0)
    out = put_integer(begin, plain, plain_bits, known);
  return put_string(out, value);
}

char* put_lines(char* out, std::string_view lines) noexcept {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find("\r\n"), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 2, lines.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    out = put_line_of(out, line.substr(0, colon), field_syntax::trim(line.substr(colon + 1)));
  }
  return out;
}

}  // namespace

void field_encoder::limit_table(std::uint32_t size_bytes) noexcept {
  if (size_bytes >= table_bytes_) return;
  table_bytes_ = size_bytes;
  table_has_shrunk_ = true;
}

char* field_encoder::begin(char* out) noexcept {
  if (std::exchange(table_has_shrunk_, false)) [[unlikely]]
    return put_integer(out, new_table_size, 5, table_bytes_);
  return out;
}

char* field_encoder::put_repeated(char* out, kept& last, unsigned name, std::size_t name_bytes,
                                  std::string_view value) noexcept {
  const bool is_same = last.size != 0 && last.size == value.size() &&
                       std::memcmp(last.value.data(), value.data(), value.size()) == 0;
  if (is_same && is_in_table(last)) [[likely]]
    return put_integer(out, indexed, 7, static_entries + added_ - last.number);
  const std::size_t size = name_bytes + value.size() + beside_entry_bytes;
  if (value.size() > longest_kept || size > table_bytes_) {
    out = put_integer(out, plain, plain_bits, name);
    return put_string(out, value);
  }
  last.begins_at = added_bytes_;
  last.number = added_++;
  last.size = static_cast<std::uint8_t>(value.size());
  std::memcpy(last.value.data(), value.data(), value.size());
  added_bytes_ += size;
  *out = static_cast<char>(added_to_table | name);
  return put_string(out + 1, value);
}

std::size_t field_encoder::most_bytes(const reply_head& head) noexcept {
  // Of the lines, a number is longer than what it stands for only where there is much of it.
  const std::size_t lines = head.fields.size() + head.fields.size() / 8;
  constexpr std::size_t all_but_what_is_given = 128;
  return all_but_what_is_given + head.content_type.size() + lines;
}

char* field_encoder::put_reply(char* out, const reply_head& head) noexcept {
  constexpr std::string_view date_name = "Date: ";
  out = put_status(begin(out), head.code);
  out = put_repeated(out, date_, 33, 4,
                     head.start.date_line().substr(date_name.size(), date_size_bytes));
  if (!head.content_type.empty()) out = put_repeated(out, type_, 31, 12, head.content_type);
  if (head.framing == body_framing::length && !is_bodiless(head.code)) {
    out = put_integer(out, plain, plain_bits, 28);
    char* const length = out + 1;
    char* const end = std::to_chars(length, length + length_digits, head.content_length).ptr;
    *out = static_cast<char>(end - length);
    out = end;
  }
  return head.fields.empty() ? out : put_lines(out, head.fields);
}

char* field_encoder::put_continue(char* out) noexcept {
  return put_status(begin(out), status::continue_);
}

}  // namespace weft::http::http2
