#include <weft/http/websocket/message_memory.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft::http::ws {
namespace {

TEST(websocket_message_memory, holds_nothing_then_a_slot_then_memory_of_its_own) {
  buffer_pool pool{64};
  message_memory memory{pool};
  EXPECT_EQ(pool.in_use(), 0U);
  memory.append("short");
  EXPECT_EQ(memory.text(), "short");
  EXPECT_EQ(pool.in_use(), 1U);
  const std::string more(20'000, 'x');
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
