// What the columns of a result are, as the server tells them.
//
// Contract: internal to the engine. The lengths of texts and bytes, which only matter to who writes
// them, are left out; no two names are alike (distinct_names.hpp).
//
//   const std::vector<column> given = result_columns(statement);
#pragma once

#include <vector>

#include <mariadb/mysql.h>

#include <weft/store/table.hpp>

namespace weft::store::mysql {

/// Of a statement that is prepared; empty: it gives no rows.
[[nodiscard]] std::vector<column> result_columns(MYSQL_STMT* of);

}  // namespace weft::store::mysql
