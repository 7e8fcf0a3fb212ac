// Rows in replies: {"code":200,"operationId":"x","data":{"name":"Ada"}}.
//
// Contract: appends to a text that the caller keeps; allocates only as that grows. An operation
// that has found nothing, or has failed, has empty data.
//
//   append_data(*plan.from, plan.columns, values, reply);
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <weft/store/table.hpp>
#include <weft/store/value.hpp>

namespace weftd {

/// What stands around a row at most: a code, an operation's id that is escaped, and marks.
inline constexpr std::size_t row_head_max = 4096;

/// Of one row: the object with its columns.
void append_data(const weft::store::table& from,
                 std::span<const weft::store::column_position> columns,
                 std::span<const weft::store::value> values, std::string& out);
/// How many bytes append_data() may append, at most.
[[nodiscard]] std::size_t data_size_max(const weft::store::table& from,
                                        std::span<const weft::store::column_position> columns,
                                        std::span<const weft::store::value> values) noexcept;
/// A string of JSON with its quotes.
void append_text(std::string_view text, std::string& out);

}  // namespace weftd
