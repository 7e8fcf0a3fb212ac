// What the commands of weft-bench print, and with what they end.
//
//   if (!options) return complain("load", options.error());
#pragma once

#include <cstdio>
#include <string_view>

namespace weft::bench {

inline constexpr int wrong_use = 2;

void print(std::FILE* to, std::string_view text);

// Says on standard error what is wrong with the use of a command, and where help is; wrong_use.
int complain(std::string_view command, std::string_view what);

}  // namespace weft::bench
