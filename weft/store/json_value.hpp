// A value of the engine's, as clients get it: JSON.
//
// Contract: appends one JSON value. Integers exactly, with all 64 bits; a DECIMAL as a number with
// all its digits; texts escaped, a CHAR without the blanks at its end, bytes that are no UTF-8 as
// U+FFFD; bytes and BIT in Base64; times with the column's fraction digits. A value that is of
// another kind than its column (SQLite allows that) is told as what it is. What JSON cannot say,
// NaN and infinities, is null. Allocates only as `out` grows.
//
//   append_json(row[0], table.columns()[at], body);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <weft/store/table.hpp>
#include <weft/store/value.hpp>

namespace weft::store {

void append_json(const value& content, const column& of, std::string& out);
/// A string, as that of a column of text.
void append_json(std::string_view text, std::string& out);
/// How many bytes append_json() may append, at most. Of a long text hardly more than it does.
[[nodiscard]] std::size_t json_size_max(const value& content, const column& of) noexcept;

}  // namespace weft::store
