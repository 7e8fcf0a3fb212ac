// What a client says a column's value is, as the engine will take it.
//
// Problem: JSON knows four kinds of scalars and SQL twenty types; what does not fit must be refused
// with the reason, before any engine sees it. Contract: integers and decimals come as numbers or as
// quoted numbers and are never rounded; texts as strings; bytes and BIT as Base64 (BINARY is padded
// with zeros, BIT is big-endian); days and times as date_time.hpp has them; YEAR is 1901 to 2155.
// A CHAR loses the blanks at its end, as it does in SQL. Columns that are is_dynamic take values
// that their type does not have, too, as tagged_value.hpp tells them. The value is a view of the
// scalar or of `room`. Allocates only as `room` does. Source: docs/store.md has the table of all
// types.
//
//   scratch room;
//   const auto id = to_value({json_kind::number, "17"}, column, purpose::key, room);
//   if (!id) append_message(id.error(), column, reply);
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include <weft/store/scratch.hpp>
#include <weft/store/table.hpp>
#include <weft/store/value.hpp>

namespace weft::store {

enum class json_kind : std::uint8_t { null, boolean, number, string };

/// A scalar of a JSON document: the number as it is written there, the string with its escapes
/// decoded.
struct json_scalar {
  json_kind kind = json_kind::null;
  std::string_view text{};
};

/// What a value is for: a key must find its row, and has no NULL.
enum class purpose : std::uint8_t { key, content };

enum class conversion_fault : std::uint8_t {
  wrong_type,  // of another kind, or out of the column's range
  too_long,    // more characters, bytes or bits than the column has
  not_base64,
  not_tagged,  // begins as a tagged value (tagged_value.hpp), and is none
  null_in_key,
  not_nullable,
  no_such_time,     // a day or time that there is not, or out of range
  unsupported_key,  // FLOAT, DOUBLE, BLOB, but of a dynamic column
};

[[nodiscard]] std::expected<value, conversion_fault> to_value(const json_scalar& given,
                                                              const column& of, purpose why,
                                                              scratch& room);

/// For clients, in the words of the RonDB REST server: "Wrong data type. Expecting INT. Column: x".
void append_message(conversion_fault fault, const column& of, std::string& out);

}  // namespace weft::store
