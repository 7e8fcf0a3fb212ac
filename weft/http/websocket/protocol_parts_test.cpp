// The parts that WebSocket messages are made with: heads, masks, UTF-8 in pieces, close codes.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <weft/base/random.hpp>
#include <weft/http/utf8.hpp>
#include <weft/http/websocket/close_code.hpp>
#include <weft/http/websocket/frame_parser.hpp>
#include <weft/http/websocket/mask.hpp>
#include <weft/http/websocket/message_memory.hpp>
#include <weft/http/websocket/utf8_checker.hpp>

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

TEST(websocket_frame_head, is_read_as_it_was_written) {
  for (const std::uint64_t size : {0UL, 1UL, 125UL, 126UL, 65535UL, 65536UL, 1UL << 40U}) {
    for (const bool is_masked : {false, true}) {
      const frame_head written{.is_final = size != 126,
                               .is_compressed = size == 125,
                               .is_masked = is_masked,
                               .kind = size == 1 ? opcode::text : opcode::binary,
                               .key = is_masked ? 0x12345678U : 0U,
                               .payload_bytes = size};
      char bytes[frame_head::most_bytes];
      const auto size_bytes = static_cast<std::size_t>(written.write(bytes) - bytes);
      EXPECT_EQ(size_bytes, written.size_bytes());
      frame_parser parser{is_masked ? role::server : role::client, true};
      frame_head read;
      const frame_progress step = parser.parse({bytes, size_bytes}, read);
      ASSERT_EQ(step.status, frame_status::complete) << parser.fault().reason;
      EXPECT_EQ(step.consumed_bytes, size_bytes);
      EXPECT_EQ(read.payload_bytes, size);
      EXPECT_EQ(read.key, written.key);
      EXPECT_EQ(read.is_final, written.is_final);
      EXPECT_EQ(read.is_compressed, written.is_compressed);
      EXPECT_EQ(read.kind, written.kind);
    }
  }
}

bool checked_in_two(std::string_view text, std::size_t cut) {
  utf8_checker checker;
  return checker.feed(text.substr(0, cut)) && checker.feed(text.substr(cut)) && checker.is_whole();
}

TEST(utf8_checker, agrees_with_the_one_of_whole_texts_wherever_it_is_cut) {
  random draw{7};
  const std::string_view parts[] = {"a",
                                    "plain text of some length",
                                    "\xc3\xa9",
                                    "\xe2\x82\xac",
                                    "\xf0\x9d\x84\x9e",
                                    "\xed\xa0\x80",
                                    "\xc0\xaf",
                                    "\xf4\x90\x80\x80",
                                    "\xe2\x82",
                                    "\x80",
                                    "\xff"};
  int whole = 0;
  for (int round = 0; round != 3000; ++round) {
    std::string text;
    const std::size_t known = round % 2 == 0 ? 5 : std::size(parts);
    for (std::uint64_t left = draw.below(8); left != 0; --left) text += parts[draw.below(known)];
    const bool is_one = is_utf8(text);
    whole += is_one ? 1 : 0;
    for (std::size_t cut = 0; cut <= text.size(); ++cut)
      ASSERT_EQ(checked_in_two(text, cut), is_one) << round << " cut at " << cut;
  }
  EXPECT_GT(whole, 500);
}

TEST(utf8_checker, agrees_on_every_three_bytes) {
  for (unsigned first = 0x7f; first != 0x100; ++first) {
    for (unsigned second = 0x7e; second != 0xc2; ++second) {
      for (const unsigned third : {0x00U, 0x7fU, 0x80U, 0xbfU, 0xc0U}) {
        const char bytes[] = {static_cast<char>(first), static_cast<char>(second),
                              static_cast<char>(third)};
        const std::string_view text{bytes, 3};
        for (std::size_t cut = 0; cut <= 3; ++cut)
          ASSERT_EQ(checked_in_two(text, cut), is_utf8(text)) << first << " " << second;
      }
    }
  }
}

TEST(utf8_checker, tells_as_soon_as_it_can_be_told) {
  for (const std::string_view wrong :
       {"\xed\xa0", "\xe0\x9f", "\xf0\x8f", "\xf4\x90", "\xc1", "\xf5"}) {
    utf8_checker checker;
    EXPECT_FALSE(checker.feed(wrong));
    EXPECT_FALSE(checker.feed("a"));
  }
  for (const std::string_view begun : {"\xed\x9f", "\xe0\xa0", "\xf0\x90", "\xf4\x8f", "\xc2"}) {
    utf8_checker checker;
    EXPECT_TRUE(checker.feed(begun));
    EXPECT_FALSE(checker.is_whole());
  }
}

TEST(websocket_close_code, says_which_may_be_sent) {
  EXPECT_TRUE(may_be_sent(close_code::normal));
  EXPECT_TRUE(may_be_sent(close_code{3000}));
  EXPECT_TRUE(may_be_sent(close_code{4999}));
  for (const unsigned number : {0U, 999U, 1004U, 1005U, 1006U, 1015U, 2999U, 5000U})
    EXPECT_FALSE(may_be_sent(static_cast<close_code>(number))) << number;
}

TEST(websocket_message_memory, holds_nothing_then_a_slot_then_memory_of_its_own) {
  buffer_pool pool{64};
  message_memory memory{pool};
  EXPECT_EQ(pool.in_use(), 0U);
  memory.append("short");
  EXPECT_EQ(memory.text(), "short");
  EXPECT_EQ(pool.in_use(), 1U);
  const std::string more(5000, 'x');
  memory.append(more);
  EXPECT_EQ(memory.text(), "short" + more);
  EXPECT_EQ(pool.in_use(), 0U);
  for (int i = 0; i != 30'000; ++i) {
    const std::span<char> room = memory.prepare();
    ASSERT_FALSE(room.empty());
    room[0] = 'y';
    memory.commit(1);
  }
  EXPECT_EQ(memory.text(), "short" + more + std::string(30'000, 'y'));
  memory.clear();
  EXPECT_TRUE(memory.empty());
}

TEST(websocket_message_memory, does_without_a_pool_that_is_lent_out) {
  buffer_pool pool{1};
  const buffer_ref all = pool.acquire();
  message_memory memory{pool};
  memory.append("a");
  memory.append("b");
  EXPECT_EQ(memory.text(), "ab");
}

}  // namespace
}  // namespace weft::http::ws
