// A line for whoever sits before the program.
//
// Contract: what it says may hold what files, arguments and databases say: control characters are
// escaped (log_escape.hpp), so that it stays one line and moves no cursor. `to` is stdout or
// stderr; that it takes nothing cannot be told to anybody there.
//
//   print_line(stderr, weft::format("weftd import: {}", why));
#pragma once

#include <cstdio>
#include <string_view>

#include <weft/base/log_escape.hpp>

namespace weftd {

inline void print_line(std::FILE* to, std::string_view text) {
  // Nobody is left to tell that it takes nothing.
  static_cast<void>(std::fputs((weft::log::escaped(text) + '\n').c_str(), to));
}

}  // namespace weftd
