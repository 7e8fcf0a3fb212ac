#include <weft/store/sqlite/row_values.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

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

bool is_kept_as_bytes(const value& bound, const column& of) noexcept {
  return bound.kind() == value_kind::bytes ||
         (of.type == column_type::decimal && of.precision > digits_kept_by_numbers);
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
  if (is_kept_as_bytes(bound, of))
    return sqlite3_bind_blob64(to, at, data_of(text), text.size(), SQLITE_STATIC);
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
