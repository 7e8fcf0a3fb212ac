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

namespace weft::store::sqlite {
namespace {

constexpr unsigned digits_kept_by_numbers = 15;  // sqlite.org/datatype3.html, section 3

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

/// All of `text`, as it is written most shortly.
std::optional<std::int64_t> plain_integer(std::string_view text) noexcept {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc{} || stop != end) return std::nullopt;
  char digits[20];
  const char* const written = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return std::string_view{digits, written} == text ? std::optional{number} : std::nullopt;
}

/// Takes the digits at the start of `text`; how many.
std::size_t take_digits(std::string_view& text) noexcept {
  const std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(size);
  return size;
}

void take_sign(std::string_view& text) noexcept {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
}

/// Whether a column that makes_numbers makes one of it (sqlite.org/datatype3.html, section 3).
bool looks_like_number(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text = text.substr(0, text.find_last_not_of(blanks) + 1);
  take_sign(text);
  std::size_t digits = take_digits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += take_digits(text);
  }
  if (digits == 0) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    take_sign(text);
    if (take_digits(text) == 0) return false;
  }
  return text.empty();
}

bool is_kept_as_bytes(const value& bound, const column& of) noexcept {
  if (bound.kind() == value_kind::bytes) return true;
  const std::string_view text = bound.as_text();
  if (of.makes_numbers) return looks_like_number(text) && !plain_integer(text);
  return of.type == column_type::decimal && of.precision > digits_kept_by_numbers;
}

int bind_bytes(sqlite3_stmt* to, int at, std::string_view bytes) noexcept {
  return sqlite3_bind_blob64(to, at, data_of(bytes), bytes.size(), SQLITE_STATIC);
}

/// Of a DECIMAL of any precision: as a number of SQLite's where that keeps all digits.
int bind_free_decimal(sqlite3_stmt* to, int at, std::string_view text) noexcept {
  if (const auto whole = plain_integer(text)) return sqlite3_bind_int64(to, at, *whole);
  double number = 0;
  if (detail::parse_real(text, number) != detail::text_fault::none || !std::isfinite(number))
    return sqlite3_bind_text64(to, at, data_of(text), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  char digits[32];
  const char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  decimal_text room;
  const bool is_kept = canonical_decimal({digits, end}, {}, room) == text;
  return is_kept ? sqlite3_bind_double(to, at, number) : bind_bytes(to, at, text);
}

/// What bytes mean in a column of numbers.
value bytes_value(std::string_view bytes, const column& of) noexcept {
  const bool is_natural =
      of.type == column_type::bit || (of.type == column_type::big_int && of.is_unsigned);
  if (is_natural && bytes.size() == sizeof(std::uint64_t)) {
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    return value::natural(big_endian(number));
  }
  return of.type == column_type::decimal ? value::text(bytes) : value::bytes(bytes);
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
  if (of.type == column_type::decimal && of.precision == 0) return bind_free_decimal(to, at, text);
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
