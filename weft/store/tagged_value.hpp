// A value that its column's type does not have, as a string of JSON.
//
// Problem: SQLite keeps a value of any storage class in any column, and other programs rely on it:
// a text in an INT, a number beyond the column's range, bytes in a TEXT. The JSON that a client
// reads must identify the row as a key, and must be stored as the same value if it is written
// again. Contract: such a value is written as U+0010, its storage class, a colon, and its content.
// Each value has exactly one form, and a text that begins with U+0010 is tagged itself, so that no
// two values have the same form. For columns with is_dynamic only.
//
//   \u0010integer:300   \u0010real:1.5   \u0010text:n/a   \u0010blob:AP8=   \u0010text-base64:/w==
//
//   if (!is_plain(stored, column)) append_tagged(stored, out);
//   if (is_tagged(given)) const auto stored = read_tagged(given, room);
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <weft/store/scratch.hpp>
#include <weft/store/table.hpp>
#include <weft/store/value.hpp>

namespace weft::store {

inline constexpr char tag_mark = '\x10';

[[nodiscard]] constexpr bool is_tagged(std::string_view text) noexcept {
  return text.starts_with(tag_mark);
}

/// None: it has no tag, or its content is not of that class. A view of `text` or of `room`.
[[nodiscard]] std::optional<value> read_tagged(std::string_view text, scratch& room);

/// With its quotes. A text that is not UTF-8 is written as its bytes.
void append_tagged(const value& stored, std::string& out);

/// Whether to_value() makes the same stored value of the JSON that append_json() writes without a
/// tag. `of` is dynamic. Does not check whether a text is UTF-8.
[[nodiscard]] bool is_plain(const value& stored, const column& of) noexcept;

}  // namespace weft::store
