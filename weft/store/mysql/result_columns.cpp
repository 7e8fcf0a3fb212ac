#include <weft/store/mysql/result_columns.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <weft/store/distinct_names.hpp>

namespace weft::store::mysql {
namespace {

constexpr unsigned charset_of_bytes = 63;
constexpr unsigned decimals_unknown = 31;
constexpr int vector_type = 242;  // which Connector/C has since 3.4, and reads as a text

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

void read_unknown_types_as_bytes(MYSQL_STMT* of) noexcept {
  for (unsigned i = 0; i < of->field_count; ++i) {
    MYSQL_FIELD& field = of->fields[i];
    const bool is_known = mysql_ps_fetch_functions[field.type].func != nullptr;
    if (is_known && static_cast<int>(field.type) != vector_type) continue;
    field.type = MYSQL_TYPE_BLOB;
    field.charsetnr = charset_of_bytes;
  }
}

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

std::string computed_bits(MYSQL_STMT* of) {
  const std::span<const MYSQL_FIELD> fields{mariadb_stmt_fetch_fields(of),
                                            mysql_stmt_field_count(of)};
  const auto found = std::ranges::find_if(fields, [](const MYSQL_FIELD& each) {
    return each.type == MYSQL_TYPE_BIT && (each.flags & BINARY_FLAG) != 0;
  });
  return found == fields.end() ? std::string{} : std::string{found->name, found->name_length};
}

}  // namespace weft::store::mysql
