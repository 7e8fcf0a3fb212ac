// Records of comma-separated values (RFC 4180).
//
// Problem: a file of a million rows is to be read piece by piece, gone on with from the middle, and
// what is wrong in it told by its line. Contract: pure functions over text that the caller holds. A
// record ends with CRLF, LF or the end of the text. A field may be quoted, and then hold
// separators, line ends and, doubled, quotes; text behind a closing quote is a fault, and so is a
// quote within a field that does not begin with one. Lines without anything are no records. Bytes
// are not looked at otherwise.
//
//   const csv_extent first = find_record(text, ',', is_all);
//   if (first.state == csv_state::whole)
//     split_record(text.substr(0, first.size), ',', room, fields);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <weft/store/scratch.hpp>

namespace weftd {

enum class csv_state : std::uint8_t {
  whole,
  incomplete,  // more text is needed to tell
  malformed,
  unclosed,  // the text ends within quotes
};

struct csv_extent {
  csv_state state;
  /// Of the record with its line end. Malformed: up to the end of the line that is wrong.
  std::size_t size = 0;
  std::size_t lines = 0;
  std::string_view fault{};
};

/// Of the record that `text` begins with; a whole one of size 0: there is none. `is_all`: nothing
/// comes behind it.
[[nodiscard]] csv_extent find_record(std::string_view text, char separator, bool is_all) noexcept;

struct csv_field {
  std::string_view text;
  /// Of two fields without text, the one with quotes is an empty text, and the other nothing.
  bool is_quoted;
};

/// Of a record that was found whole; fields that need no decoding are views of it.
void split_record(std::string_view record, char separator, weft::store::scratch& room,
                  std::vector<csv_field>& into);

}  // namespace weftd
