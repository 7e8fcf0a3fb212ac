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

}  // namespace weft::store::sqlite
