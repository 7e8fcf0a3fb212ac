#include <weft/store/tagged_value.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

#include <weft/base/utf8.hpp>
#include <weft/service/config_text.hpp>
#include <weft/store/base64.hpp>
#include <weft/store/date_time.hpp>
#include <weft/store/decimal.hpp>
#include <weft/store/json_value.hpp>
#include <weft/store/number_text.hpp>

namespace weft::store {
namespace {

constexpr std::string_view integer_tag = "integer:";
constexpr std::string_view real_tag = "real:";
constexpr std::string_view text_tag = "text:";
constexpr std::string_view text_bytes_tag = "text-base64:";
constexpr std::string_view blob_tag = "blob:";
constexpr std::int64_t first_year = 1901;
constexpr std::int64_t last_year = 2155;

bool take(std::string_view& text, std::string_view front) noexcept {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

std::optional<value> read_integer(std::string_view text) noexcept {
  const auto number = plain_integer(text);
  return number ? std::optional{value::integer(*number)} : std::nullopt;
}

std::optional<value> read_real(std::string_view text) noexcept {
  double number = 0;
  if (weft::detail::parse_real(text, number) != weft::detail::text_fault::none ||
      std::isnan(number))
    return std::nullopt;
  return value::real(number);
}

std::optional<std::string_view> decoded(std::string_view text, scratch& room) {
  const std::span<char> bytes = room.make(decoded_size_max(text.size()));
  const auto size = decode_base64(text, bytes);
  if (!size) return std::nullopt;
  return std::string_view{bytes.data(), *size};
}

void begin(std::string_view tag, std::string& out) {
  out += "\"\\u0010";
  out += tag;
}

template <class Number>
void append_number(std::string_view tag, Number number, std::string& out) {
  begin(tag, out);
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  out += '"';
}

void append_bytes(std::string_view tag, std::string_view bytes, std::string& out) {
  begin(tag, out);
  append_base64(bytes, out);
  out += '"';
}

void append_text(std::string_view text, std::string& out) {
  if (!is_utf8(text)) return append_bytes(text_bytes_tag, text, out);
  begin(text_tag, out);
  const std::size_t quote = out.size();
  append_json(text, out);
  out.erase(quote, 1);
}

std::size_t characters(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

bool has_length(std::string_view text, const column& of) noexcept {
  return of.length == 0 || text.size() <= of.length || characters(text) <= of.length;
}

decimal_shape shape_of(const column& of) noexcept {
  return {.precision = of.precision, .scale = of.scale, .is_unsigned = of.is_unsigned};
}

bool is_in_range(std::int64_t number, const column& of) noexcept {
  const unsigned spare = 64 - 8 * width_bytes(of.type);
  if (of.is_unsigned)
    return number >= 0 && static_cast<std::uint64_t>(number) <= UINT64_MAX >> spare;
  return number <= INT64_MAX >> spare && number >= INT64_MIN >> spare;
}

bool is_plain_integer(std::int64_t number, const column& of) noexcept {
  if (is_integer(of.type)) return is_in_range(number, of);
  if (is_text(of.type)) return of.makes_numbers;  // of a text that looks like it
  char digits[24];
  decimal_text room;
  switch (of.type) {
    case column_type::any: return true;
    case column_type::bit: return number >= 0 && (of.length >= 64 || number >> of.length == 0);
    case column_type::year: return number >= first_year && number <= last_year;
    case column_type::decimal:
      return canonical_decimal({digits, std::to_chars(digits, std::end(digits), number).ptr},
                               shape_of(of), room)
          .has_value();
    default: return of.keeps_form;
  }
}

bool is_plain_decimal(double number, const column& of) noexcept {
  char digits[32];
  decimal_text room;
  return canonical_decimal({digits, std::to_chars(digits, std::end(digits), number).ptr},
                           shape_of(of), room)
      .has_value();
}

bool is_plain_real(double number, const column& of) noexcept {
  switch (of.type) {
    case column_type::float64: return std::isfinite(number) && !(of.is_unsigned && number < 0);
    case column_type::decimal: return is_plain_decimal(number, of);
    case column_type::any: return std::isfinite(number);
    default: return of.keeps_form && std::isfinite(number);
  }
}

bool is_plain_time(std::string_view text, const column& of) noexcept {
  if (of.keeps_form && is_written_in_full(of.type, text)) return true;
  temporal_text room;
  return canonical_time(of.type, of.fraction_digits, text, room) == text;
}

bool is_plain_text(std::string_view text, const column& of) noexcept {
  if (is_tagged(text)) return false;
  if (is_text(of.type))
    return has_length(text, of) && !(of.type == column_type::character && text.ends_with(' '));
  if (is_temporal(of.type)) return is_plain_time(text, of);
  if (of.type != column_type::decimal) return of.type == column_type::any;
  // Digits that no number of SQLite's keeps; or, where any number may be, what is none.
  return of.precision == 0 || looks_like_number(text);
}

bool is_plain_bytes(std::string_view bytes, const column& of) noexcept {
  switch (of.type) {
    case column_type::binary: return bytes.size() == of.length;
    case column_type::varbinary: return of.length == 0 || bytes.size() <= of.length;
    case column_type::blob: return true;
    default: return of.makes_numbers && looks_like_number(bytes) && !plain_integer(bytes);
  }
}

}  // namespace

std::optional<value> read_tagged(std::string_view text, scratch& room) {
  if (!take(text, {&tag_mark, 1})) return std::nullopt;
  if (take(text, integer_tag)) return read_integer(text);
  if (take(text, real_tag)) return read_real(text);
  if (take(text, text_tag)) return value::text(text);
  const bool is_text = take(text, text_bytes_tag);
  if (!is_text && !take(text, blob_tag)) return std::nullopt;
  const auto bytes = decoded(text, room);
  if (!bytes) return std::nullopt;
  return is_text ? value::text(*bytes) : value::bytes(*bytes);
}

void append_tagged(const value& stored, std::string& out) {
  switch (stored.kind()) {
    case value_kind::null: out += "null"; break;
    case value_kind::int64: append_number(integer_tag, stored.as_integer(), out); break;
    case value_kind::uint64: append_number(integer_tag, stored.as_natural(), out); break;
    case value_kind::float64: append_number(real_tag, stored.as_real(), out); break;
    case value_kind::text: append_text(stored.as_text(), out); break;
    case value_kind::bytes: append_bytes(blob_tag, stored.as_text(), out); break;
  }
}

bool is_plain(const value& stored, const column& of) noexcept {
  switch (stored.kind()) {
    case value_kind::null:
    case value_kind::uint64: return true;  // such a number is only made where the column has it
    case value_kind::int64: return is_plain_integer(stored.as_integer(), of);
    case value_kind::float64: return is_plain_real(stored.as_real(), of);
    case value_kind::text: return is_plain_text(stored.as_text(), of);
    case value_kind::bytes: return is_plain_bytes(stored.as_text(), of);
  }
  return false;
}

}  // namespace weft::store
