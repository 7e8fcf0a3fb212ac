#include <weft/loop/epoll/descriptor_table.hpp>

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include <weft/base/random.hpp>

namespace weft {
namespace {

TEST(descriptor_table, finds_what_was_inserted) {
  descriptor_table table;
  epoll_descriptor& first = table.insert(7);
  epoll_descriptor& second = table.insert(8);
  EXPECT_EQ(first.fd, 7);
  EXPECT_NE(first.tag, second.tag);
  EXPECT_EQ(table.find(first.tag), &first);
  EXPECT_EQ(table.find(second.tag), &second);
  EXPECT_EQ(table.size(), 2U);
}

TEST(descriptor_table, a_late_tag_does_not_find_the_next_tenant) {
  descriptor_table table;
  epoll_descriptor& first = table.insert(7);
  const std::uint64_t late = first.tag;
  table.erase(first);
  EXPECT_EQ(table.find(late), nullptr);
  EXPECT_EQ(table.size(), 0U);
  epoll_descriptor& second = table.insert(7);
  EXPECT_EQ(&second, &first) << "the slot is used again";
  EXPECT_EQ(table.find(late), nullptr);
  EXPECT_EQ(table.find(second.tag), &second);
}

TEST(descriptor_table, a_new_tenant_finds_nothing_of_the_old_one) {
  descriptor_table table;
  epoll_descriptor& first = table.insert(7);
  first.readable = true;
  first.writable = false;
  first.hung_up = true;
  table.erase(first);
  const epoll_descriptor& second = table.insert(9);
  EXPECT_FALSE(second.readable);
  EXPECT_TRUE(second.writable);
  EXPECT_FALSE(second.hung_up);
  EXPECT_EQ(second.reader, nullptr);
  EXPECT_EQ(second.writer, nullptr);
}

TEST(descriptor_table, behaves_as_a_map_and_never_moves_or_repeats_a_tag) {
  constexpr std::uint64_t backends_bit = std::uint64_t{1} << 63U;
  random random{5};
  descriptor_table table;
  std::map<std::uint64_t, epoll_descriptor*> open;
  std::set<std::uint64_t> used;
  std::vector<std::uint64_t> closed;
  int next_fd = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (open.size() < 500 && random.chance(11, 20)) {
      epoll_descriptor& d = table.insert(next_fd++);
      ASSERT_TRUE(used.insert(d.tag).second);
      ASSERT_EQ(d.tag & backends_bit, 0U);
      open.emplace(d.tag, &d);
    } else if (!open.empty()) {
      const auto gone =
          std::next(open.begin(), static_cast<std::ptrdiff_t>(random.below(open.size())));
      closed.push_back(gone->first);
      table.erase(*gone->second);
      open.erase(gone);
    }
    if (!closed.empty()) {
      ASSERT_EQ(table.find(closed[random.below(closed.size())]), nullptr);
    }
    ASSERT_EQ(table.size(), open.size());
  }
  std::size_t visited = 0;
  table.for_each([&](epoll_descriptor& d) {
    ++visited;
    ASSERT_EQ(open.at(d.tag), &d);
  });
  EXPECT_EQ(visited, open.size());
}

}  // namespace
}  // namespace weft
