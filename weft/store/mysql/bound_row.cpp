#include <weft/store/mysql/bound_row.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace weft::store::mysql {
namespace {

constexpr unsigned binary_charset = 63;
constexpr std::size_t number_bytes = 8;
/// What any day and time fits into, which the library makes a text of: it tells no length of one
/// that does not.
constexpr std::size_t temporal_bytes = 96;
/// Of a column whose rows come one by one: what is longer is fetched by itself.
constexpr std::size_t short_bytes_max = 256;
/// Of what a result has taken, for the next one.
constexpr std::size_t kept_bytes = 64 * 1024;

template <class T>
T number_at(const char* place) noexcept {
  T number;
  std::memcpy(&number, place, sizeof number);
  return number;
}

/// Of a long text or bytes in a packet: it stands behind its length.
const char* content_at(const unsigned char* packet) noexcept {
  constexpr unsigned char in_two_bytes = 252;
  constexpr unsigned char in_three_bytes = 253;
  constexpr unsigned char in_eight_bytes = 254;
  const auto* const at = reinterpret_cast<const char*>(packet) + 1;
  switch (*packet) {
    case in_two_bytes: return at + 2;
    case in_three_bytes: return at + 3;
    case in_eight_bytes: return at + 8;
    default: return at;
  }
}

/// Most significant byte first.
std::uint64_t number_of_bits(std::string_view bytes) noexcept {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

bound_row::meaning bound_row::meaning_of(const MYSQL_FIELD& field) noexcept {
  switch (field.type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
      return (field.flags & UNSIGNED_FLAG) != 0 ? meaning::natural : meaning::integer;
    case MYSQL_TYPE_YEAR: return meaning::integer;
    case MYSQL_TYPE_FLOAT: return meaning::float32;
    case MYSQL_TYPE_DOUBLE: return meaning::float64;
    case MYSQL_TYPE_BIT: return meaning::bits;
    case MYSQL_TYPE_TINY_BLOB:
    case MYSQL_TYPE_MEDIUM_BLOB:
    case MYSQL_TYPE_LONG_BLOB:
    case MYSQL_TYPE_BLOB:
    case MYSQL_TYPE_STRING:
    case MYSQL_TYPE_VAR_STRING:
    case MYSQL_TYPE_VARCHAR:
    case MYSQL_TYPE_GEOMETRY:
      return field.charsetnr == binary_charset ? meaning::bytes : meaning::text;
    default: return meaning::text;
  }
}

void bound_row::bind(MYSQL_STMT* of) { bind(of, true); }
void bound_row::bind_next(MYSQL_STMT* of) { bind(of, false); }

void bound_row::bind(MYSQL_STMT* of, bool is_stored) {
  const unsigned columns = mysql_stmt_field_count(of);
  const MYSQL_FIELD* const fields = mariadb_stmt_fetch_fields(of);
  cells_.resize(columns);
  binds_.assign(columns, {});
  values_.resize(columns);
  std::size_t size_bytes = 0;
  for (unsigned i = 0; i < columns; ++i) {
    MYSQL_BIND& bind = binds_[i];
    cells_[i] = {.as = meaning_of(fields[i]), .offset = size_bytes};
    bind.buffer_length = number_bytes;
    switch (cells_[i].as) {
      case meaning::natural: bind.is_unsigned = 1; [[fallthrough]];
      case meaning::integer: bind.buffer_type = MYSQL_TYPE_LONGLONG; break;
      case meaning::float32: bind.buffer_type = MYSQL_TYPE_FLOAT; break;
      case meaning::float64: bind.buffer_type = MYSQL_TYPE_DOUBLE; break;
      case meaning::text:
        bind.buffer_type = MYSQL_TYPE_STRING;
        bind.buffer_length = is_stored ? fields[i].max_length
                                       : std::clamp<unsigned long>(fields[i].length, temporal_bytes,
                                                                   short_bytes_max);
        break;
      case meaning::bits:
      case meaning::bytes:
        bind.buffer_type = MYSQL_TYPE_BLOB;
        bind.buffer_length =
            is_stored ? fields[i].max_length
                      : std::clamp<unsigned long>(fields[i].length, number_bytes, short_bytes_max);
    }
    bind.length = &cells_[i].length;
    bind.is_null = &cells_[i].is_null;
    bind.error = &cells_[i].is_cut;
    size_bytes += bind.buffer_length;
  }
  content_.resize(size_bytes);
  for (unsigned i = 0; i < columns; ++i) {
    cells_[i].place = content_.data() + cells_[i].offset;
    binds_[i].buffer = content_.data() + cells_[i].offset;
  }
  // Fails for types that it does not know, of which none is asked for here.
  mysql_stmt_bind_result(of, binds_.data());
}

void bound_row::fill(MYSQL_STMT* from) {
  for (unsigned i = 0; i < cells_.size(); ++i) {
    cell& each = cells_[i];
    each.place = content_.data() + each.offset;
    if (each.is_null != 0 || each.length <= binds_[i].buffer_length) continue;
    each.place = content_at(from->bind[i].u.row_ptr);
  }
}

void bound_row::end() noexcept {
  if (content_.size() > kept_bytes) std::vector<char>{}.swap(content_);
}

value bound_row::value_of(const cell& from) const noexcept {
  if (from.is_null != 0) return {};
  const char* const place = from.place;
  switch (from.as) {
    case meaning::integer: return value::integer(number_at<std::int64_t>(place));
    case meaning::natural: return value::natural(number_at<std::uint64_t>(place));
    case meaning::float32: return value::real(double{number_at<float>(place)});
    case meaning::float64: return value::real(number_at<double>(place));
    case meaning::bits: return value::natural(number_of_bits({place, from.length}));
    case meaning::text: return value::text({place, from.length});
    case meaning::bytes: return value::bytes({place, from.length});
  }
  return {};
}

std::span<const value> bound_row::values() {
  for (std::size_t i = 0; i < cells_.size(); ++i) values_[i] = value_of(cells_[i]);
  return values_;
}

}  // namespace weft::store::mysql
