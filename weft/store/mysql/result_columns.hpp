// What the columns of a result are, as the server tells them.
//
// Contract: internal to the engine. The lengths of texts and bytes, which only matter to who writes
// them, are left out; no two names are alike (distinct_names.hpp).
//
//   const std::vector<column> given = result_columns(statement);
#pragma once

#include <string>
#include <vector>

#include <mariadb/mysql.h>

#include <weft/store/table.hpp>

namespace weft::store::mysql {

/// Of a statement that is prepared; empty: it gives no rows.
[[nodiscard]] std::vector<column> result_columns(MYSQL_STMT* of);

/// To be done each time a statement has run, before its first row is read: what the library has no
/// type for, or takes for a text, is read as the bytes that it is sent as, as VECTOR of MySQL 9 is.
/// The library takes a value of no type to have no bytes, and its bytes for those of the next
/// column.
void read_unknown_types_as_bytes(MYSQL_STMT* of) noexcept;

/// The name of a column of BIT that is no table's, but computed; empty: there is none. MariaDB
/// gives its values as bytes or as digits, and does not say which.
[[nodiscard]] std::string computed_bits(MYSQL_STMT* of);

}  // namespace weft::store::mysql
