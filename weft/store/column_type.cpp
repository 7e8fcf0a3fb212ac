#include <weft/store/column_type.hpp>

#include <array>
#include <cstddef>

namespace weft::store {

std::string_view to_string(column_type type) noexcept {
  static constexpr std::array<std::string_view, 21> names{
      "TINYINT", "SMALLINT", "MEDIUMINT", "INT",      "BIGINT",    "FLOAT",     "DOUBLE",
      "DECIMAL", "CHAR",     "VARCHAR",   "TEXT",     "BINARY",    "VARBINARY", "BLOB",
      "BIT",     "DATE",     "TIME",      "DATETIME", "TIMESTAMP", "YEAR",      "ANY"};
  static_assert(names.size() == static_cast<std::size_t>(column_type::any) + 1);
  return names[static_cast<std::size_t>(type)];
}

}  // namespace weft::store
