#include <weft/store/sqlite/row_values.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include <weft/service/config_text.hpp>
#include <weft/store/decimal.hpp>
#include <weft/store/number_text.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::uint64_t big_endian(std::uint64_t number) noexcept {
  return std::endian::native == std::endian::little ? std::byteswap(number) : number;
}

/// SQLite takes a null pointer for NULL.
const char* data_of(std::string_view text) noexcept {
  return text.data() != nullptr ? text.data() : "";
}

int bind_natural(sqlite3_stmt* to, int at, std::uint64_t number) noexcept {
  if (number <= std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    return sqlite3_bind_int64(to, at, static_cast<std::int64_t>(number));
  const std::uint64_t bytes = big_endian(number);
  return sqlite3_bind_blob(to, at, &bytes, sizeof bytes, SQLITE_TRANSIENT);
}

bool is_kept_as_bytes(const value& bound, const column& of) noexcept {
  if (bound.kind() == value_kind::bytes) return true;
  const std::string_view text = bound.as_text();
  return of.makes_numbers && looks_like_number(text) && !plain_integer(text);
}

int bind_bytes(sqlite3_stmt* to, int at, std::string_view bytes) noexcept {
  return sqlite3_bind_blob64(to, at, data_of(bytes), bytes.size(), SQLITE_STATIC);
}

decimal_shape shape_of(const column& of) noexcept {
  return {.precision = of.precision, .scale = of.scale, .is_unsigned = of.is_unsigned};
}

// The number of SQLite's that keeps all digits of a DECIMAL's canonical text.

std::optional<std::int64_t> kept_integer(std::string_view text) noexcept {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return plain_integer(text);
  const bool is_whole = text.find_first_not_of('0', point + 1) == std::string_view::npos;
  return is_whole ? plain_integer(text.substr(0, point)) : std::nullopt;
}

std::optional<double> kept_real(std::string_view text, const column& of) noexcept {
  double number = 0;
  if (detail::parse_real(text, number) != detail::text_fault::none || !std::isfinite(number))
    return std::nullopt;
  char digits[32];
  const char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  decimal_text room;
  const bool is_kept = canonical_decimal({digits, end}, shape_of(of), room) == text;
  return is_kept ? std::optional{number} : std::nullopt;
}

int bind_decimal(sqlite3_stmt* to, int at, std::string_view text, const column& of) noexcept {
  if (!looks_like_number(text))
    return sqlite3_bind_text64(to, at, data_of(text), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (const auto whole = kept_integer(text)) return sqlite3_bind_int64(to, at, *whole);
  if (const auto number = kept_real(text, of)) return sqlite3_bind_double(to, at, *number);
  return bind_bytes(to, at, text);
}

/// Whether bind_decimal() keeps a number as these bytes.
bool are_digits(std::string_view bytes, const column& of) noexcept {
  decimal_text room;
  return canonical_decimal(bytes, shape_of(of), room) == bytes && !kept_integer(bytes) &&
         !kept_real(bytes, of);
}

/// What bytes mean in a column of numbers.
value bytes_value(std::string_view bytes, const column& of) noexcept {
  const bool is_natural = (of.type == column_type::bit && of.length == 64) ||
                          (of.type == column_type::big_int && of.is_unsigned);
  if (is_natural && bytes.size() == sizeof(std::uint64_t)) {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    number = big_endian(number);
    if (number > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      return value::natural(number);
  }
  const bool is_decimal = of.type == column_type::decimal && are_digits(bytes, of);
  return is_decimal ? value::text(bytes) : value::bytes(bytes);
}

/// sqlite3_column_text() would copy what lies on several pages, for the zero at its end.
std::string_view column_bytes(sqlite3_stmt* from, int at) noexcept {
  const void* const data = sqlite3_column_blob(from, at);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(from, at));
  return {static_cast<const char*>(data), size};
}

}  // namespace

int bind_value(sqlite3_stmt* to, int at, const value& bound, const column& of) noexcept {
  switch (bound.kind()) {
    case value_kind::null: return sqlite3_bind_null(to, at);
    case value_kind::int64: return sqlite3_bind_int64(to, at, bound.as_integer());
    case value_kind::uint64: return bind_natural(to, at, bound.as_natural());
    case value_kind::float64: return sqlite3_bind_double(to, at, bound.as_real());
    case value_kind::text:
    case value_kind::bytes: break;
  }
  const std::string_view text = bound.as_text();
  if (is_kept_as_bytes(bound, of)) return bind_bytes(to, at, text);
  if (of.type == column_type::decimal) return bind_decimal(to, at, text, of);
  return sqlite3_bind_text64(to, at, data_of(text), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

value column_value(sqlite3_stmt* from, int at, const column& of) noexcept {
  switch (sqlite3_column_type(from, at)) {
    case SQLITE_INTEGER: return value::integer(sqlite3_column_int64(from, at));
    case SQLITE_FLOAT: return value::real(sqlite3_column_double(from, at));
    case SQLITE_TEXT: return value::text(column_bytes(from, at));
    case SQLITE_BLOB: return bytes_value(column_bytes(from, at), of);
    default: return {};
  }
}

}  // namespace weft::store::sqlite
