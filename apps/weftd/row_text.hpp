// Rows in replies: {"code":200,"operationId":"x","data":{"name":"Ada"}}.
//
// Contract: appends to a text that the caller keeps; allocates only as that grows. An operation
// that has found nothing, or has failed, has empty data.
//
//   append_data(*plan.from, plan.columns, values, reply);
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <weft/store/table.hpp>
#include <weft/store/value.hpp>

namespace weftd {

/// Of one row: the object with its columns.
void append_data(const weft::store::table& from,
                 std::span<const weft::store::column_position> columns,
                 std::span<const weft::store::value> values, std::string& out);
/// A string of JSON with its quotes.
void append_text(std::string_view text, std::string& out);

}  // namespace weftd
