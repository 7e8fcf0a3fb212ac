// One row by its key, on whichever connection.
//
//   running_statement run{prepared};
//   if (step_to_row(prepared, operation) == SQLITE_ROW) take_values(prepared, operation, room);
#pragma once

#include <cstddef>
#include <span>

#include <sqlite3.h>

#include <weft/base/assert.hpp>
#include <weft/store/engine.hpp>
#include <weft/store/scratch.hpp>
#include <weft/store/sqlite/row_values.hpp>
#include <weft/store/value_copy.hpp>

namespace weft::store::sqlite {

/// SQLITE_ROW, SQLITE_DONE where there is none, or what went wrong.
[[nodiscard]] inline int step_to_row(sqlite3_stmt* select, const key_read& operation) noexcept {
  const std::span columns = operation.from->columns();
  const std::span key = operation.from->key();
  WEFT_ASSERT(!key.empty() && key.size() == operation.key.size(),
              "a key has a value for each column of the table's primary key");
  for (std::size_t i = 0; i < key.size(); ++i) {
    const int code = bind_value(select, static_cast<int>(i + 1), operation.key[i], columns[key[i]]);
    if (code != SQLITE_OK) return code;
  }
  return sqlite3_step(select);
}

/// Those of the row the statement stands on; good until it is reset.
inline void take_values(sqlite3_stmt* row, const key_read& operation,
                        std::span<value> into) noexcept {
  const std::span columns = operation.from->columns();
  for (std::size_t i = 0; i < operation.columns.size(); ++i)
    into[i] = column_value(row, static_cast<int>(i), columns[operation.columns[i]]);
}

/// What copy_values() will count.
[[nodiscard]] inline std::size_t row_bytes(sqlite3_stmt* row, const table& from,
                                           std::span<const column_position> columns) noexcept {
  std::size_t bytes = columns.size() * sizeof(value);
  for (std::size_t i = 0; i < columns.size(); ++i)
    bytes += bytes_of(column_value(row, static_cast<int>(i), from.columns()[columns[i]]));
  return bytes;
}

/// The row_bytes() of a row, from a result row of select_sizes(): the sum of its values.
[[nodiscard]] inline std::size_t told_row_bytes(sqlite3_stmt* sizes, std::size_t columns) noexcept {
  std::size_t bytes = columns * sizeof(value);
  for (std::size_t i = 0; i < columns; ++i)
    bytes += static_cast<std::size_t>(sqlite3_column_int64(sizes, static_cast<int>(i)));
  return bytes;
}

/// Copies of the first values of the row, which are of these columns, and how many bytes they have.
[[nodiscard]] inline std::span<const value> copy_values(sqlite3_stmt* row, const table& from,
                                                        std::span<const column_position> columns,
                                                        scratch& room, std::size_t& bytes) {
  const std::span<value> copies = room.make_array<value>(columns.size());
  bytes += copies.size_bytes();
  for (std::size_t i = 0; i < columns.size(); ++i)
    copies[i] =
        copy_value(column_value(row, static_cast<int>(i), from.columns()[columns[i]]), room, bytes);
  return copies;
}

}  // namespace weft::store::sqlite
