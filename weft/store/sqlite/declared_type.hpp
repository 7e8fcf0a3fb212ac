// What a column is, by the type it was declared with.
//
// Problem: SQLite keeps whatever stands there as the type, and looks at five syllables of it.
// Contract: reads it as MySQL does, in any case of letters: "INT UNSIGNED", "DECIMAL(10,2)",
// "VARCHAR(50)". SQLite's own stay what they are: INTEGER has 64 bits, REAL is a DOUBLE, and
// VARCHAR, DECIMAL or NUMERIC without a size have no bound, FLOAT has 64 bits, too, and days and
// times without a size are kept as they are written. What neither knows is taken by SQLite's rules
// of affinity (sqlite.org/datatype3.html, 3.1), and has values of any type where that is NUMERIC or
// there is none: "UUID", "STRING", "". Whatever the type, a value of another may be in the column.
//
//   column price{.name = "price"};
//   read_declared_type("DECIMAL(10,2)", price);
#pragma once

#include <string_view>

#include <weft/store/table.hpp>

namespace weft::store::sqlite {

/// Fills in `of`'s type, sign, length, precision, scale and fraction digits, and how its values are
/// kept.
void read_declared_type(std::string_view declared, column& of);

}  // namespace weft::store::sqlite
