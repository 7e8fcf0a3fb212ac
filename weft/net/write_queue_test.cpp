#include <weft/net/write_queue.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/frame_pool.hpp>

namespace weft::net {
namespace {

class write_queue_test : public ::testing::Test {
 protected:
  std::string gathered(std::size_t parts_max = 16) {
    std::vector<iovec> parts(parts_max);
    std::string all;
    const std::size_t count = queue.gather(parts);
    for (std::size_t i = 0; i < count; ++i)
      all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
    return all;
  }
  std::size_t parts() {
    std::array<iovec, 64> space;
    return queue.gather(space);
  }
  buffer_ref filled(std::string_view text) {
    buffer_ref buffer = pool.acquire();
    std::memcpy(buffer.data(), text.data(), text.size());
    buffer.resize(text.size());
    return buffer;
  }

  buffer_pool pool{256};
  write_queue queue{pool};
};

TEST_F(write_queue_test, copies_small_writes_into_one_part) {
  for (int i = 0; i < 100; ++i) queue.append(std::string_view{"0123456789"});
  EXPECT_EQ(queue.size(), 1000U);
  EXPECT_EQ(parts(), 1U);
  EXPECT_EQ(pool.in_use(), 1U);
}

TEST_F(write_queue_test, keeps_the_order_of_all_kinds) {
  queue.append(std::string_view{"a"});
  queue.append(std::string(10'000, 'b'));
  queue.append(filled("ccc"));
  queue.append(std::string_view{"d"});
  const std::string large(20'000, 'e');
  queue.append(std::string_view{large});
  EXPECT_EQ(gathered(), "a" + std::string(10'000, 'b') + "cccd" + large);
  EXPECT_EQ(queue.size(), 30'005U);
}

TEST_F(write_queue_test, moves_a_string_without_copying_it) {
  std::string text(10'000, 'x');
  const char* memory = text.data();
  queue.append(std::move(text));
  std::array<iovec, 1> part;
  ASSERT_EQ(queue.gather(part), 1U);
  EXPECT_EQ(part[0].iov_base, memory);
}

TEST_F(write_queue_test, writes_behind_the_bytes_of_a_buffer_it_was_given) {
  buffer_ref buffer = filled("head");
  buffer.remove_prefix(1);
  const char* memory = buffer.data();
  queue.append(std::move(buffer));
  queue.append(std::string_view{" tail"});
  std::array<iovec, 2> part;
  ASSERT_EQ(queue.gather(part), 1U);
  EXPECT_EQ(part[0].iov_base, memory);
  EXPECT_EQ(gathered(), "ead tail");
  EXPECT_EQ(pool.in_use(), 1U);
}

TEST_F(write_queue_test, leaves_gathered_bytes_in_place_while_more_is_appended) {
  queue.append(std::string_view{"first"});
  queue.append(std::string{"short string"});
  std::array<iovec, 2> before;
  ASSERT_EQ(queue.gather(before), 2U);
  for (int i = 0; i < 1000; ++i) queue.append(std::string_view{"more bytes that need slots"});
  EXPECT_EQ((std::string_view{static_cast<char*>(before[0].iov_base), 5}), "first");
  EXPECT_EQ((std::string_view{static_cast<char*>(before[1].iov_base), 12}), "short string");
}

TEST_F(write_queue_test, consumes_at_every_boundary) {
  const std::string whole = "ab" + std::string(20'000, 'c') + "defg";
  for (std::size_t cut = 0; cut <= whole.size(); cut += cut < 8 || cut > 19'995 ? 1 : 997) {
    queue.append(std::string_view{"ab"});
    queue.append(std::string(20'000, 'c'));
    queue.append(filled("de"));
    queue.append(std::string_view{"fg"});
    queue.consume(cut);
    EXPECT_EQ(gathered(), whole.substr(cut)) << "cut at " << cut;
    EXPECT_EQ(queue.size(), whole.size() - cut);
    queue.consume(queue.size());
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(pool.in_use(), 0U);
  }
}

TEST_F(write_queue_test, gathers_no_more_parts_than_asked_for) {
  for (int i = 0; i < 20; ++i) queue.append(std::string{"part"});
  EXPECT_EQ(gathered(16).size(), 64U);
  queue.consume(64);
  EXPECT_EQ(gathered(16).size(), 16U);
}

TEST_F(write_queue_test, writes_in_place) {
  const std::span<char> room = queue.prepare(100);
  ASSERT_GE(room.size(), 100U);
  std::memcpy(room.data(), "in place", 8);
  queue.commit(8);
  queue.append(std::string_view{" and copied"});
  EXPECT_EQ(gathered(), "in place and copied");
  EXPECT_EQ(parts(), 1U);
}

TEST_F(write_queue_test, gives_what_stands_in_one_place_in_one_piece) {
  EXPECT_EQ(queue.in_one_piece(), "");
  queue.append(std::string_view{"small and "});
  queue.append(std::string_view{"small"});
  EXPECT_EQ(queue.in_one_piece(), "small and small");
  queue.append(std::string(10'000, 'l'));
  EXPECT_EQ(queue.in_one_piece(), "") << "two places";
  queue.consume(15);
  EXPECT_EQ(queue.in_one_piece(), std::string(10'000, 'l'));
  queue.consume(9'999);
  EXPECT_EQ(queue.in_one_piece(), "l");
}

TEST_F(write_queue_test, skips_a_part_that_was_prepared_and_not_filled) {
  ASSERT_GE(queue.prepare(10).size(), 10U);
  queue.commit(0);
  EXPECT_TRUE(queue.empty());
  queue.append(std::string{"string"});
  EXPECT_EQ(gathered(), "string");
  queue.consume(3);
  EXPECT_EQ(gathered(), "ing");
  queue.consume(3);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST_F(write_queue_test, ignores_empty_writes) {
  queue.append(std::string_view{});
  queue.append(std::string{});
  queue.append(filled(""));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(parts(), 0U);
  EXPECT_EQ(pool.in_use(), 0U) << "an empty buffer is given back, too";
}

TEST_F(write_queue_test, takes_from_the_heap_when_no_slot_is_left) {
  std::vector<buffer_ref> all;
  for (buffer_ref one = pool.acquire(); one; one = pool.acquire()) all.push_back(std::move(one));
  queue.append(std::string_view{"one "});
  const std::span<char> room = queue.prepare(8);
  ASSERT_GE(room.size(), 8U);
  std::memcpy(room.data(), "two ", 4);
  queue.commit(4);
  all.clear();
  const std::string more(2'000, 't');  // than what the piece of the heap has room for
  queue.append(std::string_view{more});
  EXPECT_EQ(gathered(), "one two " + more);
  EXPECT_EQ(pool.in_use(), 1U);
}

TEST_F(write_queue_test, gives_all_memory_back) {
  const std::size_t frames = frame_pool::live_frames();
  queue.append(std::string_view{"slot"});
  queue.append(std::string(10'000, 's'));
  queue.append(filled("buffer"));
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_EQ(frame_pool::live_frames(), frames);
}

TEST(write_queue_and_pool, puts_small_pieces_together_where_no_slot_is_left) {
  buffer_pool pool;
  std::vector<buffer_ref> lent(4'096);
  for (buffer_ref& each : lent) each = pool.acquire();
  write_queue queue{pool};
  for (int i = 0; i < 10'000; ++i) queue.append(std::string_view{"x"});
  EXPECT_EQ(queue.size(), 10'000U);
  std::vector<iovec> parts(100);
  EXPECT_LE(queue.gather(parts), 10U);
}

TEST(write_queue_and_pool, leaves_most_slots_to_input) {
  buffer_pool pool;
  std::string expected;
  {
    write_queue queue{pool};
    for (int i = 0; i < 5'000; ++i) {
      const std::string text(write_queue::prepare_most_bytes, static_cast<char>('a' + i % 26));
      queue.append(std::string_view{text});
      expected += text;
    }
    EXPECT_LE(pool.in_use(), 4'096U);
    EXPECT_EQ(queue.size(), expected.size());
    std::vector<iovec> parts(5'000);
    ASSERT_EQ(queue.gather(parts), parts.size());
    std::string sent;
    for (const iovec& part : parts) sent.append(static_cast<char*>(part.iov_base), part.iov_len);
    EXPECT_EQ(sent, expected);
    queue.consume(write_queue::prepare_most_bytes);
    queue.append(std::string_view{"in the slot that has come back"});
    EXPECT_EQ(pool.in_use(), 4'096U);
  }
  EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace
}  // namespace weft::net
