// Values of ENUM and SET that look like numbers.
//
// Problem: MySQL's servers take a text that is none of a column's values, but looks like a number,
// for the number of one: '1' becomes the first. Contract: what is written is one of the values, or
// refused; a value that is itself a number, as in ENUM('2','1'), is that value. Only what looks
// like a number is looked at here: of others the server says itself that it has no such value. To
// read and to compare, servers take texts for texts.
//
//   column.numeric_values = numeric_values("enum('2','1','other')");  // "2", "1"
//   if (const std::string fault = number_fault(write); !fault.empty()) refuse(fault);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weft/store/engine.hpp>

namespace weft::store::mysql {

/// Of a type as information_schema spells it, those values that look like numbers.
[[nodiscard]] std::vector<std::string> numeric_values(std::string_view column_type);

/// What is wrong with a number that `write` has for an ENUM or a SET; empty: nothing is.
[[nodiscard]] std::string number_fault(const key_write& write);

}  // namespace weft::store::mysql
