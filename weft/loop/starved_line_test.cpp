#include <weft/loop/starved_line.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace weft {
namespace {

struct reader {
  int name;
  list_hook starved{};
};

/// Feeds a line with so many buffers, and says who has had one.
std::vector<int> served(starved_line<reader, &reader::starved>& line, int buffers) {
  std::vector<int> names;
  line.feed([&] { return buffers-- > 0; }, [&](reader& r, bool) { names.push_back(r.name); });
  return names;
}

TEST(starved_line, serves_first_come_first_and_no_more_than_there_are_buffers) {
  starved_line<reader, &reader::starved> line;
  reader one{1}, two{2}, three{3};
  for (reader* each : {&one, &two, &three}) line.push(*each);
  EXPECT_EQ(served(line, 0), std::vector<int>{});
  EXPECT_EQ(served(line, 2), (std::vector{1, 2}));
  line.push(one);
  EXPECT_EQ(served(line, 5), (std::vector{3, 1}));
  EXPECT_TRUE(line.empty());
}

TEST(starved_line, has_a_socket_once_and_not_after_it_was_forgotten) {
  starved_line<reader, &reader::starved> line;
  reader one{1}, two{2};
  line.push(one);
  line.push(two);
  line.push(one);
  line.forget(two);
  line.forget(two);
  EXPECT_EQ(served(line, 5), std::vector{1});
}

TEST(starved_line, gives_a_buffer_to_who_takes_bytes_and_to_who_takes_datagrams) {
  buffer_pool pool;
  receive_operation bytes{nullptr, nullptr};
  give_buffer(bytes, pool.acquire());
  EXPECT_TRUE(static_cast<bool>(bytes.buffer));
  datagram room[1];
  receive_datagrams_operation datagrams{nullptr, room, nullptr};
  give_buffer(datagrams, pool.acquire());
  EXPECT_TRUE(static_cast<bool>(room[0].bytes));
}

}  // namespace
}  // namespace weft
