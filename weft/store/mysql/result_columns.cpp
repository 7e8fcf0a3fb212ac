#include <weft/store/mysql/result_columns.hpp>

#include <cstdint>
#include <memory>
#include <string_view>

#include <weft/store/distinct_names.hpp>

namespace weft::store::mysql {
namespace {

constexpr unsigned charset_of_bytes = 63;
constexpr unsigned decimals_unknown = 31;

struct metadata_end {
  void operator()(MYSQL_RES* ended) const noexcept { mysql_free_result(ended); }
};

column_type type_of(const MYSQL_FIELD& field) noexcept {
  const bool is_of_bytes = field.charsetnr == charset_of_bytes;
  switch (field.type) {
    case MYSQL_TYPE_TINY: return column_type::tiny_int;
    case MYSQL_TYPE_SHORT: return column_type::small_int;
    case MYSQL_TYPE_INT24: return column_type::medium_int;
    case MYSQL_TYPE_LONG: return column_type::integer;
    case MYSQL_TYPE_LONGLONG: return column_type::big_int;
    case MYSQL_TYPE_FLOAT: return column_type::float32;
    case MYSQL_TYPE_DOUBLE: return column_type::float64;
    case MYSQL_TYPE_DECIMAL:
    case MYSQL_TYPE_NEWDECIMAL: return column_type::decimal;
    case MYSQL_TYPE_BIT: return column_type::bit;
    case MYSQL_TYPE_DATE:
    case MYSQL_TYPE_NEWDATE: return column_type::date;
    case MYSQL_TYPE_TIME: return column_type::time;
    case MYSQL_TYPE_DATETIME: return column_type::date_time;
    case MYSQL_TYPE_TIMESTAMP: return column_type::timestamp;
    case MYSQL_TYPE_YEAR: return column_type::year;
    case MYSQL_TYPE_STRING: return is_of_bytes ? column_type::binary : column_type::character;
    case MYSQL_TYPE_VARCHAR:
    case MYSQL_TYPE_VAR_STRING: return is_of_bytes ? column_type::varbinary : column_type::varchar;
    case MYSQL_TYPE_TINY_BLOB:
    case MYSQL_TYPE_MEDIUM_BLOB:
    case MYSQL_TYPE_LONG_BLOB:
    case MYSQL_TYPE_BLOB: return is_of_bytes ? column_type::blob : column_type::text;
    case MYSQL_TYPE_GEOMETRY: return column_type::blob;
    default: return column_type::text;
  }
}

column column_of(const MYSQL_FIELD& field, distinct_names& names) {
  column made{.name = names.add({field.name, field.name_length}),
              .type = type_of(field),
              .is_unsigned = (field.flags & UNSIGNED_FLAG) != 0,
              .is_nullable = (field.flags & NOT_NULL_FLAG) == 0};
  if (made.type == column_type::bit) made.length = static_cast<std::uint32_t>(field.length);
  if (is_temporal(made.type) && field.decimals < decimals_unknown)
    made.fraction_digits = static_cast<std::uint8_t>(field.decimals);
  return made;
}

}  // namespace

std::vector<column> result_columns(MYSQL_STMT* of) {
  std::vector<column> made;
  const std::unique_ptr<MYSQL_RES, metadata_end> result{mysql_stmt_result_metadata(of)};
  if (result == nullptr) return made;
  const unsigned count = mysql_num_fields(result.get());
  const MYSQL_FIELD* const fields = mysql_fetch_fields(result.get());
  distinct_names names;
  made.reserve(count);
  for (unsigned i = 0; i < count; ++i) made.push_back(column_of(fields[i], names));
  return made;
}

}  // namespace weft::store::mysql
