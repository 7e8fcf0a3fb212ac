// What others have said, made harmless for a line of the log.
//
// Problem: a peer's text with a line end forges a line, and one with an escape sequence controls
// the terminal of whoever reads it; and so does what a file, a variable or an argument says, in a
// message that a program prints. Contract: what is appended is valid UTF-8 on one line, without
// control characters (C0, DEL, C1), line and paragraph separators, and characters that turn the
// direction of what follows. Any thread. May throw std::bad_alloc.
//
//   std::string line;
//   append_escaped(line, "a\nb\x1b[2J", escaping::plain);  // a\nb\x1b[2J, in letters
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <weft/base/without_user.hpp>

namespace weft::log {

enum class escaping : std::uint8_t {
  plain,  // \n, \x1b, \u202e; what is no UTF-8 as \xff
  json,   // as a JSON string has it (RFC 8259, section 7); what is no UTF-8 as \ufffd
};

void append_escaped(std::string& out, std::string_view text, escaping how);

/// Plain, and without_passwords(), for a message on a terminal.
[[nodiscard]] inline std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, without_passwords(text), escaping::plain);
  return out;
}

}  // namespace weft::log
