#include <weft/http/websocket/mask.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include <weft/base/random.hpp>

namespace weft::http::ws {
namespace {

TEST(websocket_mask, is_by_the_byte_wherever_a_piece_begins) {
  std::string payload;
  for (int i = 0; i != 200; ++i) payload.push_back(static_cast<char>(i * 7));
  const unsigned char key[4] = {0x37, 0xfa, 0x21, 0x3d};
  std::uint32_t word = 0;
  std::memcpy(&word, key, sizeof word);
  for (std::size_t begin = 0; begin != 40; ++begin) {
    for (const std::size_t size : {0UZ, 1UZ, 3UZ, 15UZ, 16UZ, 17UZ, 64UZ, 150UZ}) {
      std::string expected = payload.substr(begin, size);
      for (std::size_t i = 0; i != size; ++i)
        expected[i] = static_cast<char>(expected[i] ^ key[(begin + i) % 4]);
      std::string masked = payload.substr(begin, size);
      apply_mask(masked, word, begin);
      ASSERT_EQ(masked, expected) << begin << " " << size;
      std::string copied(size, ' ');
      copy_masked(copied.data(), masked, word, begin);
      ASSERT_EQ(copied, payload.substr(begin, size));
    }
  }
}

}  // namespace
}  // namespace weft::http::ws
