#include <weft/loop/ready_queue.hpp>

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <vector>

#include <weft/base/random.hpp>

namespace weft {
namespace {

struct item : runnable {
  explicit item(int n) : runnable{[](runnable&) noexcept {}}, number{n} {}
  int number;
};

int number_of(runnable* popped) { return static_cast<item*>(popped)->number; }

TEST(ready_queue, an_empty_one_gives_nothing) {
  ready_queue queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(ready_queue, what_it_gives_is_linked_to_nothing) {
  ready_queue queue;
  item a{1};
  item b{2};
  queue.push(a, priority::normal);
  queue.push(b, priority::normal);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_EQ(a.next, nullptr);
}

TEST(ready_queue, first_in_first_out_within_a_band) {
  ready_queue queue;
  item a{1};
  item b{2};
  queue.push(a, priority::normal);
  queue.push(b, priority::normal);
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(queue.pop(), &a);
  queue.push(a, priority::normal);
  EXPECT_EQ(queue.pop(), &b);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(ready_queue, the_most_urgent_band_comes_first) {
  ready_queue queue;
  std::deque<item> items;
  constexpr std::array bands = {priority::idle, priority::low, priority::normal, priority::high,
                                priority::critical};
  static_assert(bands.size() == priority_count);
  for (int i = 0; i < 5; ++i) queue.push(items.emplace_back(i), bands[static_cast<std::size_t>(i)]);
  for (int i = 4; i >= 0; --i) EXPECT_EQ(number_of(queue.pop()), i);
}

TEST(ready_queue, behaves_as_one_deque_a_band) {
  random random{3};
  ready_queue queue;
  std::array<std::deque<int>, priority_count> expected;
  std::deque<item> items;
  std::vector<item*> outside;
  for (int i = 0; i < 300; ++i) outside.push_back(&items.emplace_back(i));
  for (int step = 0; step < 50'000; ++step) {
    if (!outside.empty() && random.chance(1, 2)) {
      std::swap(outside[random.below(outside.size())], outside.back());
      const auto band = random.below(priority_count);
      expected[band].push_back(outside.back()->number);
      queue.push(*outside.back(), static_cast<priority>(band));
      outside.pop_back();
      continue;
    }
    auto first = expected.begin();
    while (first != expected.end() && first->empty()) ++first;
    runnable* const got = queue.pop();
    ASSERT_EQ(got == nullptr, first == expected.end());
    if (got == nullptr) continue;
    ASSERT_EQ(number_of(got), first->front());
    first->pop_front();
    outside.push_back(static_cast<item*>(got));
  }
}

}  // namespace
}  // namespace weft
