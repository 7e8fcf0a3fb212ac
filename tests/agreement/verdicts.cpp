// Says what our parser makes of each request of a file, in their order, in the words of
// describe_message() (tests/conformance/message_outcome.hpp).
//
//   weft_verdicts requests.bin > verdicts.bin
//
// In both files a length of four bytes, little-endian, stands before each piece.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <tests/conformance/message_outcome.hpp>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  std::ifstream file{argv[1], std::ios::binary};
  const std::string all{std::istreambuf_iterator<char>{file}, {}};
  for (std::string_view left = all; !left.empty();) {
    std::uint32_t length = 0;
    if (left.size() < sizeof length) return 2;
    std::memcpy(&length, left.data(), sizeof length);
    left.remove_prefix(sizeof length);
    if (left.size() < length) return 2;
    const std::string said = weft::http::describe_message(left.substr(0, length), {}, {});
    const auto size = static_cast<std::uint32_t>(said.size());
    std::fwrite(&size, sizeof size, 1, stdout);
    std::fwrite(said.data(), 1, said.size(), stdout);
    left.remove_prefix(length);
  }
}
