#include <weft/loop/sim/sim_event.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include <weft/loop/sim/sim_fault.hpp>
#include <weft/loop/sim/sim_trace.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

TEST(sim_event_queue, gives_events_by_time_then_chance_then_age) {
  sim_event_queue queue;
  EXPECT_EQ(queue.next(), time_point::max());
  queue.push({.when = time_point{2s}, .tie = 0, .value = 4});
  queue.push({.when = time_point{1s}, .tie = 7, .value = 2});
  queue.push({.when = time_point{1s}, .tie = 3, .value = 1});
  queue.push({.when = time_point{1s}, .tie = 7, .value = 3});
  EXPECT_EQ(queue.next(), time_point{1s});
  std::vector<std::uint64_t> order;
  while (!queue.empty()) order.push_back(queue.pop().value);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST(sim_trace, is_the_same_everywhere_and_tells_orders_apart) {
  sim_trace one;
  sim_trace other;
  one.note(1, 2);
  other.note(2, 1);
  EXPECT_NE(one.value(), other.value());
  EXPECT_EQ(one.value(), 5'959'734'220'605'093'855U);
}

TEST(sim_plan, leaves_some_kinds_out_and_none_for_ever) {
  std::array<int, sim_fault_count> worlds{};
  random dice{1};
  constexpr int draws = 400;
  for (int i = 0; i < draws; ++i) {
    const sim_plan plan = sim_plan::draw(dice);
    EXPECT_LE(plan.latency_min, plan.latency_max);
    for (std::size_t kind = 0; kind < sim_fault_count; ++kind)
      worlds[kind] += plan.rates[kind] != 0;
  }
  for (std::size_t kind = 0; kind < static_cast<std::size_t>(first_counted_fault); ++kind) {
    EXPECT_GT(worlds[kind], draws / 8) << to_string(static_cast<sim_fault>(kind));
    EXPECT_LT(worlds[kind], draws * 3 / 4) << to_string(static_cast<sim_fault>(kind));
  }
}

}  // namespace
}  // namespace weft
