// Values in and out of SQLite's statements.
//
// Contract: docs/store.md says how each type is stored, which is what SQLite's affinity leaves as
// it is: a BIGINT UNSIGNED or BIT of 2^63 and more as eight bytes, big-endian, which sort above all
// numbers; a DECIMAL whose digits no number of SQLite's keeps as the bytes of its text; all else as
// it comes, whatever the column's type. What bind_value() is given must stay until the statement is
// reset; what column_value() gives is good until then. Neither allocates, but for those eight
// bytes.
//
//   int code = bind_value(statement, 1, key, column);
//   value first = column_value(statement, 0, column);
#pragma once

#include <sqlite3.h>

#include <weft/store/table.hpp>
#include <weft/store/value.hpp>

namespace weft::store::sqlite {

/// Of no type: what is bound and read as it is stored, numbers as numbers, texts as texts, bytes as
/// bytes.
inline const column as_stored{.name = {}, .type = column_type::float64};

/// A result code of SQLite's. `at` counts from 1.
[[nodiscard]] int bind_value(sqlite3_stmt* to, int at, const value& bound,
                             const column& of) noexcept;

/// Of the row that the statement stands on. `at` counts from 0.
[[nodiscard]] value column_value(sqlite3_stmt* from, int at, const column& of) noexcept;

}  // namespace weft::store::sqlite
