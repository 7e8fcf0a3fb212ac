#include <weft/realtime/utilisation.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <weft/base/log.hpp>
#include <weft/loop/loop_fixture_test.hpp>
#include <weft/realtime/periodic.hpp>
#include <weft/realtime/thread_setup.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft::realtime {
namespace {

using std::chrono::milliseconds;

class utilisation_test : public in_memory {
 protected:
  void SetUp() override {
    in_memory::SetUp();
    log::set_sink(
        [](log::level, std::string_view line, void* into) {
          static_cast<std::vector<std::string>*>(into)->emplace_back(line);
        },
        &lines_);
  }
  void TearDown() override {
    log::set_sink(nullptr, nullptr);
    in_memory::TearDown();
  }
  std::vector<std::string> lines_;
};

TEST_F(utilisation_test, is_nothing_where_nothing_is_periodic) {
  EXPECT_EQ(utilisation_of(*loop_).tasks, 0U);
  EXPECT_TRUE(utilisation_of(*loop_).fits());
}

TEST_F(utilisation_test, is_the_sum_of_what_the_loops_tasks_want) {
  const periodic first{*loop_, {.period = milliseconds{10}, .execution = milliseconds{5}}};
  {
    const periodic second{*loop_, {.period = milliseconds{20}, .execution = milliseconds{5}}};
    EXPECT_EQ(utilisation_of(*loop_).tasks, 2U);
    EXPECT_DOUBLE_EQ(utilisation_of(*loop_).worst, 0.75);
    EXPECT_DOUBLE_EQ(utilisation_of(*loop_).mean, 0) << "nothing has run";
  }
  EXPECT_DOUBLE_EQ(utilisation_of(*loop_).worst, 0.5);
  EXPECT_TRUE(lines_.empty());
}

TEST_F(utilisation_test, more_than_there_is_is_warned_of) {
  const periodic first{
      *loop_, {.period = milliseconds{10}, .execution = milliseconds{6}, .name = "control"}};
  const periodic second{*loop_, {.period = milliseconds{10}, .execution = milliseconds{5}}};
  EXPECT_FALSE(utilisation_of(*loop_).fits());
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(lines_.front(),
            "periodic tasks want 1.10 of their processor at worst, 0.00 on average, and may have "
            "1.00: control 0.60, a task 0.50");
}

TEST_F(utilisation_test, a_warning_that_nobody_is_to_see_is_not_made) {
  const periodic task{*loop_, {.period = milliseconds{10}, .execution = milliseconds{11}}};
  EXPECT_EQ(lines_.size(), 1U);
  log::set_level(log::level::error);
  const testing::allocation_counter since;
  warn_if_too_much(*loop_);
  const std::uint64_t allocations = since.allocations();
  log::set_level(log::level::info);
  EXPECT_EQ(allocations, 0U);
  EXPECT_EQ(lines_.size(), 1U);
}

TEST_F(utilisation_test, what_was_measured_counts_where_it_is_more) {
  loop_->spawn([](event_loop& loop) -> task<void> {
    periodic clock{loop, {.period = milliseconds{10}, .execution = duration{1}}};
    EXPECT_TRUE(co_await clock.next());
    while (thread_usage::read().processor < milliseconds{1}) {}
    EXPECT_TRUE(co_await clock.next());
    EXPECT_GE(utilisation_of(loop).worst,
              static_cast<double>(clock.record().execution.max()) / 1e7);
  }(*loop_));
  loop_->run();
}

/// Where work takes time; another SetUp() than that of loops in memory.
class measured_utilisation : public utilisation_test {
 protected:
  void SetUp() override {
    utilisation_test::SetUp();
    loop_.reset();
    open({.backend = backend_kind::epoll});
  }
  /// Of a tenth of a second each.
  void run(const std::vector<milliseconds>& lengths) {
    loop_->spawn([](event_loop& loop, const std::vector<milliseconds>& works) -> task<void> {
      periodic clock{loop, {.period = milliseconds{100}, .name = "control"}};
      for (const milliseconds each : works) {
        std::ignore = co_await clock.next();
        const duration before = thread_usage::read_processor();
        while (thread_usage::read_processor() - before < each) {}
      }
      std::ignore = co_await clock.next();
    }(*loop_, lengths));
    loop_->run();
  }
  [[nodiscard]] long warnings() const {
    return std::ranges::count_if(
        lines_, [](const std::string& line) { return line.starts_with("periodic tasks want"); });
  }
};

TEST_F(measured_utilisation, is_warned_of_once_when_what_is_measured_grows_past_the_limit) {
  run({milliseconds{1}, milliseconds{105}, milliseconds{1}, milliseconds{120}});
  ASSERT_EQ(warnings(), 1);
  const auto line = std::ranges::find_if(
      lines_, [](const std::string& each) { return each.starts_with("periodic tasks want"); });
  EXPECT_TRUE(line->contains("and may have 1.00: control 1.0")) << *line;
}

TEST_F(measured_utilisation, what_fits_is_not_warned_of) {
  run({milliseconds{1}, milliseconds{10}, milliseconds{5}});
  EXPECT_EQ(warnings(), 0);
}

TEST(utilisation, of_a_thread_with_a_budget_is_counted_against_that) {
  bool is_permitted = false;
  std::thread{[&] {
    auto loop = event_loop::create({.backend = backend_kind::epoll});
    ASSERT_TRUE(loop);
    const deadline_budget budget{
        .runtime = milliseconds{2}, .deadline = milliseconds{10}, .period = milliseconds{10}};
    is_permitted = apply({.policy = scheduling::deadline, .budget = budget}).is_whole();
    if (!is_permitted) return;
    const periodic clock{**loop, {.period = milliseconds{10}, .execution = milliseconds{3}}};
    EXPECT_DOUBLE_EQ(utilisation_of(**loop).limit, 0.2);
    EXPECT_FALSE(utilisation_of(**loop).fits());
  }}.join();
  if (!is_permitted) GTEST_SKIP() << "SCHED_DEADLINE is not permitted here";
}

}  // namespace
}  // namespace weft::realtime
