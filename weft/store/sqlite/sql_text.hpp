// The statements that this engine runs.
//
// Contract: names are quoted, whatever is in them; parameters count from 1, the key first.
//
//   select_row(orders, columns);  // SELECT "price" FROM "orders" WHERE "id"=?1
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <weft/store/engine.hpp>
#include <weft/store/table.hpp>

namespace weft::store::sqlite {

void append_name(std::string_view name, std::string& out);

/// Its parameters: the key's, then those of what is set.
[[nodiscard]] std::string write_row(const key_write& operation);

[[nodiscard]] std::string select_row(const table& from, std::span<const column_position> columns);
/// select_row(), of how many bytes each of the columns has.
[[nodiscard]] std::string select_sizes(const table& from, std::span<const column_position> columns);

/// `length(CAST("a" AS BLOB))`: SQLite holds one value at a time for it.
void append_size_of(std::string_view name, std::string& out);

}  // namespace weft::store::sqlite
