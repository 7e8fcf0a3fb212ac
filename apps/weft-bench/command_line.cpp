#include "command_line.hpp"

#include <weft/base/format.hpp>

namespace weft::bench {

void print(std::FILE* to, std::string_view text) { std::fwrite(text.data(), 1, text.size(), to); }

int complain(std::string_view command, std::string_view what) {
  print(stderr, weft::format("weft-bench: {}\nTry `weft-bench {} --help`.\n", what, command));
  return wrong_use;
}

}  // namespace weft::bench
