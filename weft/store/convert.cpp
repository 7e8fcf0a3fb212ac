#include <weft/store/convert.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <system_error>

#include <weft/service/config_text.hpp>
#include <weft/store/base64.hpp>
#include <weft/store/date_time.hpp>
#include <weft/store/decimal.hpp>
#include <weft/store/number_text.hpp>
#include <weft/store/tagged_value.hpp>

namespace weft::store {
namespace {

using converted = std::expected<value, conversion_fault>;

constexpr std::int64_t first_year = 1901;
constexpr std::int64_t last_year = 2155;

std::unexpected<conversion_fault> refuse(conversion_fault why) noexcept {
  return std::unexpected{why};
}

/// All of `text` as a whole number, or none.
template <class Number>
std::optional<Number> parsed(std::string_view text) noexcept {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<double> parsed_real(std::string_view text) noexcept {
  double number = 0;
  if (weft::detail::parse_real(text, number) != weft::detail::text_fault::none) return std::nullopt;
  return number;
}

bool is_number(const json_scalar& given) noexcept {
  return given.kind == json_kind::number || given.kind == json_kind::string;
}

converted to_signed(std::string_view text, unsigned width) noexcept {
  const auto number = parsed<std::int64_t>(text);
  const unsigned spare = 64 - 8 * width;
  if (!number || *number > (INT64_MAX >> spare) || *number < (INT64_MIN >> spare))
    return refuse(conversion_fault::wrong_type);
  return value::integer(*number);
}

converted to_unsigned(std::string_view text, unsigned width) noexcept {
  if (text == "-0") text.remove_prefix(1);
  const auto number = parsed<std::uint64_t>(text);
  if (!number || *number > (UINT64_MAX >> (64 - 8 * width)))
    return refuse(conversion_fault::wrong_type);
  return value::natural(*number);
}

converted to_integer(const json_scalar& given, const column& of) noexcept {
  if (!is_number(given)) return refuse(conversion_fault::wrong_type);
  const unsigned width = width_bytes(of.type);
  return of.is_unsigned ? to_unsigned(given.text, width) : to_signed(given.text, width);
}

converted to_year(const json_scalar& given) noexcept {
  const auto year = is_number(given) ? parsed<std::int64_t>(given.text) : std::nullopt;
  if (!year || *year < first_year || *year > last_year) return refuse(conversion_fault::wrong_type);
  return value::integer(*year);
}

converted to_real(const json_scalar& given, const column& of) noexcept {
  const auto number = is_number(given) ? parsed_real(given.text) : std::nullopt;
  if (!number || !std::isfinite(*number) || (of.is_unsigned && *number < 0))
    return refuse(conversion_fault::wrong_type);
  if (of.type == column_type::float64) return value::real(*number);
  if (std::abs(*number) > static_cast<double>(std::numeric_limits<float>::max()))
    return refuse(conversion_fault::wrong_type);
  return value::real(static_cast<double>(static_cast<float>(*number)));
}

converted to_decimal(const json_scalar& given, const column& of, scratch& room) {
  decimal_text text;
  const decimal_shape shape{
      .precision = of.precision, .scale = of.scale, .is_unsigned = of.is_unsigned};
  const auto canonical =
      is_number(given) ? canonical_decimal(given.text, shape, text) : std::nullopt;
  if (canonical) return value::text(room.copy(*canonical));
  const bool is_text = of.is_dynamic && of.precision == 0 && given.kind == json_kind::string &&
                       !looks_like_number(given.text);
  return is_text ? converted{value::text(given.text)} : refuse(conversion_fault::wrong_type);
}

std::size_t characters(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

converted to_text(const json_scalar& given, const column& of) noexcept {
  if (given.kind != json_kind::string) return refuse(conversion_fault::wrong_type);
  std::string_view text = given.text;
  if (of.type == column_type::character) text = text.substr(0, text.find_last_not_of(' ') + 1);
  // There are no more characters than bytes.
  if (of.length != 0 && text.size() > of.length && characters(text) > of.length)
    return refuse(conversion_fault::too_long);
  return value::text(text);
}

std::optional<std::string_view> decoded(const json_scalar& given, std::size_t padded_size,
                                        scratch& room) {
  const std::size_t most = std::max(decoded_size_max(given.text.size()), padded_size);
  const std::span<char> bytes = room.make(most);
  const auto size = decode_base64(given.text, bytes);
  if (!size) return std::nullopt;
  return std::string_view{bytes.data(), *size};
}

converted to_bytes(const json_scalar& given, const column& of, scratch& room) {
  if (given.kind != json_kind::string) return refuse(conversion_fault::wrong_type);
  const std::size_t padded = of.type == column_type::binary ? of.length : 0;
  const auto bytes = decoded(given, padded, room);
  if (!bytes) return refuse(conversion_fault::not_base64);
  if (of.length != 0 && bytes->size() > of.length) return refuse(conversion_fault::too_long);
  if (bytes->size() >= padded) return value::bytes(*bytes);
  // Made by this call: const only as a view.
  std::memset(const_cast<char*>(bytes->data()) + bytes->size(), 0, padded - bytes->size());
  return value::bytes({bytes->data(), padded});
}

converted to_bits(const json_scalar& given, const column& of, scratch& room) {
  if (given.kind != json_kind::string) return refuse(conversion_fault::wrong_type);
  const auto bytes = decoded(given, 0, room);
  if (!bytes) return refuse(conversion_fault::not_base64);
  if (bytes->size() > (of.length + 7) / 8) return refuse(conversion_fault::too_long);
  std::uint64_t bits = 0;
  for (const char each : *bytes) bits = bits << 8 | static_cast<unsigned char>(each);
  if (of.length < 64 && bits >> of.length != 0) return refuse(conversion_fault::too_long);
  return value::natural(bits);
}

/// A number of the kind that it is written as.
converted to_number(std::string_view text) noexcept {
  if (text.find_first_of(".eE") == std::string_view::npos) {
    const auto number = parsed<std::int64_t>(text);
    return number ? converted{value::integer(*number)} : refuse(conversion_fault::wrong_type);
  }
  const auto number = parsed_real(text);
  const bool is_known = number && std::isfinite(*number);
  return is_known ? converted{value::real(*number)} : refuse(conversion_fault::wrong_type);
}

converted to_any(const json_scalar& given) noexcept {
  if (given.kind == json_kind::number) return to_number(given.text);
  if (given.kind == json_kind::string) return value::text(given.text);
  return refuse(conversion_fault::wrong_type);
}

converted to_time(const json_scalar& given, const column& of, scratch& room) {
  if (of.keeps_form && given.kind == json_kind::number) return to_number(given.text);
  if (given.kind != json_kind::string) return refuse(conversion_fault::wrong_type);
  if (of.keeps_form && is_written_in_full(of.type, given.text)) return value::text(given.text);
  temporal_text text;
  const auto canonical = canonical_time(of.type, of.fraction_digits, given.text, text);
  if (!canonical) return refuse(conversion_fault::no_such_time);
  return value::text(room.copy(*canonical));
}

/// SQLite finds a row by any value.
constexpr bool can_be_key(const column& of) noexcept {
  return of.is_dynamic || (of.type != column_type::float32 && of.type != column_type::float64 &&
                           of.type != column_type::blob);
}

converted to_tagged(std::string_view text, scratch& room) {
  const auto stored = read_tagged(text, room);
  return stored ? converted{*stored} : refuse(conversion_fault::not_tagged);
}

void append_number(std::size_t number, std::string& out) {
  char digits[20];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

/// "INT UNSIGNED", "DECIMAL(10,2)".
void append_type(const column& of, std::string& out) {
  out += to_string(of.type);
  if (of.type == column_type::decimal && of.precision != 0) {
    out += '(';
    append_number(of.precision, out);
    out += ',';
    append_number(of.scale, out);
    out += ')';
  }
  if (of.is_unsigned) out += " UNSIGNED";
}

}  // namespace

converted to_value(const json_scalar& given, const column& of, purpose why, scratch& room) {
  if (why == purpose::key && !can_be_key(of)) return refuse(conversion_fault::unsupported_key);
  if (given.kind == json_kind::null) {
    if (why == purpose::key) return refuse(conversion_fault::null_in_key);
    if (!of.is_nullable) return refuse(conversion_fault::not_nullable);
    return value{};
  }
  if (of.is_dynamic && given.kind == json_kind::string && is_tagged(given.text))
    return to_tagged(given.text, room);
  if (is_integer(of.type)) return to_integer(given, of);
  if (is_text(of.type)) return to_text(given, of);
  if (is_bytes(of.type)) return to_bytes(given, of, room);
  if (is_temporal(of.type)) return to_time(given, of, room);
  switch (of.type) {
    case column_type::decimal: return to_decimal(given, of, room);
    case column_type::bit: return to_bits(given, of, room);
    case column_type::year: return to_year(given);
    case column_type::any: return to_any(given);
    default: return to_real(given, of);
  }
}

void append_message(conversion_fault fault, const column& of, std::string& out) {
  switch (fault) {
    case conversion_fault::wrong_type:
      out += "Wrong data type. Expecting ";
      append_type(of, out);
      out += '.';
      break;
    case conversion_fault::too_long:
      out += "Invalid column data. The value is longer than the column, which has ";
      append_number(of.length, out);
      out += is_text(of.type) ? " characters." : of.type == column_type::bit ? " bits." : " bytes.";
      break;
    case conversion_fault::not_base64:
      out += "Invalid column data. Expecting Base64, padded with \"=\".";
      break;
    case conversion_fault::not_tagged:
      out +=
          "Invalid column data. Behind U+0010 comes integer:, real:, text:, text-base64: or blob:, "
          "and a value of that class.";
      break;
    case conversion_fault::null_in_key:
      out += "Invalid column data. NULL is in no primary key.";
      break;
    case conversion_fault::not_nullable:
      out += "Invalid column data. The column does not take NULL.";
      break;
    case conversion_fault::no_such_time:
      out += "Invalid Date/Time. Expecting ";
      append_type(of, out);
      out += '.';
      break;
    case conversion_fault::unsupported_key:
      out += "A primary key of type ";
      append_type(of, out);
      out += " is unsupported.";
      break;
  }
  out += " Column: ";
  out += of.name;
}

}  // namespace weft::store
