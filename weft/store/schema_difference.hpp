// How the tables of one schema differ from those of another, for people.
//
//   for (const std::string& line : schema_differences(before, after)) say(line);
//   // "table orders: the column price is DECIMAL(8,2), and was DECIMAL(10,2)"
#pragma once

#include <span>
#include <string>
#include <vector>

#include <weft/store/table.hpp>

namespace weft::store {

/// A line each; none: they are alike.
[[nodiscard]] std::vector<std::string> schema_differences(std::span<const table_definition> before,
                                                          std::span<const table_definition> after);

}  // namespace weft::store
