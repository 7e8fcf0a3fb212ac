#include <weft/coro/ready_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <numeric>
#include <vector>

#include <weft/base/random.hpp>

namespace weft {
namespace {

struct item : runnable {
  explicit item(int n) : runnable{[](runnable&) noexcept {}}, number{n} {}
  int number;
};

int number_of(runnable* popped) { return static_cast<item*>(popped)->number; }

/// A queue ends empty.
void drain(ready_queue& queue) {
  while (queue.pop() != nullptr) {}
}

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
  EXPECT_EQ(queue.pop(), &b);
}

TEST(ready_queue, gives_the_oldest_of_a_band_before_more_urgent_ones) {
  for (const bool in_rounds : {false, true}) {
    random dice{1};
    ready_queue queue;
    item urgent{1};
    std::deque<item> patient;
    queue.push(urgent, priority::normal);
    for (int i = 2; i < 40; ++i) queue.push(patient.emplace_back(i), priority::low);
    EXPECT_EQ(number_of(queue.pop_from(priority::low)), 2);
    EXPECT_EQ(queue.pop(), &urgent);
    std::vector<int> rest;
    while (!queue.empty()) {
      runnable* const next = in_rounds ? queue.pop_any(dice) : queue.pop();
      rest.push_back(number_of(next));
      if (queue.empty()) break;
      rest.push_back(number_of(queue.pop_from(priority::low)));
    }
    std::ranges::sort(rest);
    std::vector<int> expected(37);
    std::iota(expected.begin(), expected.end(), 3);
    EXPECT_EQ(rest, expected);
  }
}

#ifndef NDEBUG
TEST(ready_queue_death_test, an_item_is_in_it_once) {
  ready_queue queue;
  item a{1};
  item b{2};
  queue.push(a, priority::normal);
  EXPECT_DEATH(queue.push(a, priority::normal), "in the ready queue already");
  queue.push(b, priority::normal);
  EXPECT_DEATH(queue.push(a, priority::normal), "in the ready queue already");
  drain(queue);
}

TEST(ready_queue_death_test, nothing_waits_in_one_that_ends) {
  const auto leave_one = [] {
    item a{1};
    ready_queue{}.push(a, priority::normal);
  };
  EXPECT_DEATH(leave_one(), "run what is ready");
}
#endif

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
  drain(queue);
}

std::vector<int> drawn_order(int items_count, std::uint64_t seed) {
  random dice{seed};
  ready_queue queue;
  std::deque<item> items;
  for (int i = 0; i < items_count; ++i) queue.push(items.emplace_back(i), priority::normal);
  std::vector<int> order;
  while (runnable* next = queue.pop_any(dice)) order.push_back(number_of(next));
  EXPECT_TRUE(queue.empty());
  return order;
}

std::vector<int> numbers_to(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(ready_queue, what_is_drawn_is_all_that_waits_each_once) {
  for (const int count : {0, 1, 2, 7, 8, 9, 500}) {
    auto order = drawn_order(count, 1);
    std::ranges::sort(order);
    EXPECT_EQ(order, numbers_to(count));
  }
}

TEST(ready_queue, one_seed_draws_one_order_and_another_seed_another) {
  EXPECT_EQ(drawn_order(50, 1), drawn_order(50, 1));
  EXPECT_NE(drawn_order(50, 1), drawn_order(50, 2));
  EXPECT_NE(drawn_order(50, 1), numbers_to(50));
}

TEST(ready_queue, draws_every_order_of_a_few_often) {
  std::map<std::vector<int>, int> seen;
  for (std::uint64_t seed = 0; seed < 24'000; ++seed) ++seen[drawn_order(4, seed)];
  EXPECT_EQ(seen.size(), 24U);
  for (const auto& [order, times] : seen) EXPECT_GE(times, 500);
}

TEST(ready_queue, draws_the_last_of_many_before_the_first_of_them_too) {
  int earlier = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    const auto order = drawn_order(60, seed);
    if (std::ranges::find(order, 59) < std::ranges::find(order, 0)) ++earlier;
  }
  EXPECT_GE(earlier, 30);  // of 71 whose first round has all of them
}

TEST(ready_queue, draws_a_newcomer_before_one_that_waits_already) {
  int earlier = 0;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    random dice{seed};
    ready_queue queue;
    std::deque<item> items;
    for (int i = 0; i < 4; ++i) queue.push(items.emplace_back(i), priority::normal);
    int next = number_of(queue.pop_any(dice));
    queue.push(items.emplace_back(4), priority::normal);
    while (next < 3) next = number_of(queue.pop_any(dice));
    if (next == 4) ++earlier;
    drain(queue);
  }
  EXPECT_GE(earlier, 50);
}

TEST(ready_queue, who_waits_is_drawn_at_last_though_others_come_all_the_time) {
  constexpr int waiting = 100;
  constexpr int round_most = 64;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    random dice{seed};
    ready_queue queue;
    std::deque<item> items;
    for (int i = 0; i < waiting; ++i) queue.push(items.emplace_back(i), priority::normal);
    int seen = 0;
    for (int drawn = 0; drawn < waiting + round_most; ++drawn) {
      if (number_of(queue.pop_any(dice)) < waiting) ++seen;
      queue.push(items.emplace_back(waiting), priority::normal);
    }
    EXPECT_EQ(seen, waiting) << "seed " << seed;
    drain(queue);
  }
}

TEST(ready_queue, who_gives_way_comes_after_all_who_were_there) {
  struct patient : giving_way {};
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    random dice{seed};
    ready_queue queue;
    std::deque<item> items;
    std::deque<patient> patients;
    std::map<const runnable*, std::size_t> there;  // how many, when it gave way
    for (std::size_t i = 0; i < 30; ++i)
      if (i % 7 == 3)
        queue.push(patients.emplace_back(), priority::normal), there[&patients.back()] = i;
      else
        queue.push(items.emplace_back(static_cast<int>(i)), priority::normal);
    for (std::size_t drawn = 0; drawn < 30; ++drawn) {
      const runnable* const next = queue.pop_any(dice);
      if (there.contains(next)) EXPECT_GE(drawn, there[next]) << "seed " << seed;
    }
  }
}

TEST(ready_queue, draws_from_the_most_urgent_band_first) {
  random dice{1};
  ready_queue queue;
  std::deque<item> items;
  for (int i = 0; i < 100; ++i) queue.push(items.emplace_back(i % 5), static_cast<priority>(i % 5));
  std::vector<int> bands;
  while (runnable* next = queue.pop_any(dice)) bands.push_back(number_of(next));
  EXPECT_TRUE(std::ranges::is_sorted(bands));
  EXPECT_EQ(bands.size(), 100U);
}

}  // namespace
}  // namespace weft
