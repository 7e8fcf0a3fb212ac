// What a column is, by the type it was declared with.
//
// Problem: SQLite keeps whatever stands there as the type, and looks at five syllables of it.
// Contract: reads it as MySQL does, in any case of letters: "INT UNSIGNED", "DECIMAL(10,2)",
// "VARCHAR(50)". SQLite's own stay what they are: INTEGER has 64 bits, REAL is a DOUBLE, and
// VARCHAR, DECIMAL or NUMERIC without a size have no bound. What neither knows is taken by SQLite's
// rules of affinity (sqlite.org/datatype3.html, 3.1).
//
//   column price{.name = "price"};
//   read_declared_type("DECIMAL(10,2)", price);
#pragma once

#include <string_view>

#include <weft/store/table.hpp>

namespace weft::store::sqlite {

/// Fills in `of`'s type, sign, length, precision, scale and fraction digits.
void read_declared_type(std::string_view declared, column& of);

}  // namespace weft::store::sqlite
