#include <weft/realtime/periodic.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/loop_fixture_test.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft::realtime {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// What a test sees of each run, and how long each lasts.
struct seen {
  std::vector<std::uint64_t> numbers;
  std::vector<duration> latencies;
  std::vector<std::uint64_t> skipped;
};

task<void> run_for(event_loop& loop, periodic& clock, std::vector<duration> lengths, seen& into) {
  for (const duration each : lengths) {
    const auto now = co_await clock.next();
    if (!now) co_return;
    into.numbers.push_back(now->number);
    into.latencies.push_back(now->latency());
    into.skipped.push_back(now->skipped);
    if (each != duration::zero()) std::ignore = co_await sleep_for(loop, each);
  }
  std::ignore = co_await clock.next();
}

class periodic_time_test : public in_memory {
 protected:
  seen run(const periodic_options& options, std::vector<duration> lengths) {
    seen runs;
    periodic clock{*loop_, options};
    clock.on_miss([&](const deadline_miss& miss) { misses_.push_back(miss); });
    loop_->spawn(run_for(*loop_, clock, std::move(lengths), runs));
    loop_->run();
    skipped_ = clock.record().skipped;
    return runs;
  }
  std::vector<deadline_miss> misses_;
  std::uint64_t skipped_ = 0;
};

using numbers = std::vector<std::uint64_t>;
using lengths = std::vector<duration>;

TEST_F(periodic_time_test, releases_never_drift) {
  const time_point start = loop_->now();
  const seen runs = run({.period = microseconds{250}}, lengths(1000));
  EXPECT_EQ(runs.numbers.back(), 999U);
  EXPECT_EQ(runs.latencies, lengths(1000));
  EXPECT_EQ(loop_->now(), start + 1000 * microseconds{250}) << "the last wait was for number 1000";
  EXPECT_TRUE(misses_.empty());
}

TEST_F(periodic_time_test, the_phase_is_when_the_first_is_due) {
  const time_point start = loop_->now();
  run({.period = milliseconds{10}, .phase = milliseconds{3}}, lengths(1));
  EXPECT_EQ(loop_->now(), start + milliseconds{13});
}

TEST_F(periodic_time_test, what_is_overrun_is_skipped) {
  const seen runs =
      run({.period = milliseconds{10}},
          {milliseconds{0}, milliseconds{35}, milliseconds{10}, milliseconds{0}, milliseconds{0}});
  EXPECT_EQ(runs.numbers, (numbers{0, 1, 5, 6, 7}));
  EXPECT_EQ(runs.skipped, (numbers{0, 0, 3, 0, 0}));
  EXPECT_EQ(runs.latencies, lengths(5));
  EXPECT_EQ(skipped_, 3U);
  ASSERT_EQ(misses_.size(), 1U) << "to end when the next is due is in time";
  EXPECT_EQ(misses_.front().number, 1U);
  EXPECT_EQ(misses_.front().response(), milliseconds{35});
}

TEST_F(periodic_time_test, what_is_overrun_is_caught_up_with) {
  const seen runs = run({.period = milliseconds{10}, .overrun = overrun_policy::catch_up},
                        {milliseconds{35}, milliseconds{1}, milliseconds{1}, milliseconds{1},
                         milliseconds{1}, milliseconds{1}});
  EXPECT_EQ(runs.numbers, (numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(runs.latencies, (lengths{milliseconds{0}, milliseconds{25}, milliseconds{16},
                                     milliseconds{7}, milliseconds{0}, milliseconds{0}}));
  EXPECT_EQ(skipped_, 0U);
  EXPECT_EQ(misses_.size(), 3U) << "two of them by their predecessors";
}

TEST_F(periodic_time_test, what_is_overrun_is_told_at_once) {
  const seen runs = run({.period = milliseconds{10}, .overrun = overrun_policy::notify},
                        {milliseconds{35}, milliseconds{1}, milliseconds{0}});
  EXPECT_EQ(runs.numbers, (numbers{0, 3, 4}));
  EXPECT_EQ(runs.skipped, (numbers{0, 2, 0}));
  EXPECT_EQ(runs.latencies, (lengths{milliseconds{0}, milliseconds{5}, milliseconds{0}}));
}

TEST_F(periodic_time_test, a_deadline_may_be_shorter_than_the_period) {
  run({.period = milliseconds{10}, .deadline = milliseconds{2}},
      {milliseconds{2}, milliseconds{3}, milliseconds{1}});
  ASSERT_EQ(misses_.size(), 1U);
  EXPECT_EQ(misses_.front().number, 1U);
  EXPECT_EQ(misses_.front().deadline, milliseconds{2});
}

TEST_F(periodic_time_test, what_a_run_usually_takes_is_no_cause) {
  lengths all(5, milliseconds{6});
  all.push_back(milliseconds{15});
  all.push_back(milliseconds{6});
  run({.period = milliseconds{10}, .overrun = overrun_policy::catch_up}, all);
  ASSERT_EQ(misses_.size(), 2U);
  EXPECT_EQ(misses_.back().number, 6U);
  EXPECT_EQ(misses_.back().shares.predecessors, milliseconds{5});
  EXPECT_EQ(misses_.back().cause, miss_cause::long_predecessor)
      << "6 ms, which are more, are usual";
}

TEST_F(periodic_time_test, a_stop_request_ends_the_wait) {
  result<release> ended;
  loop_->spawn([](event_loop& loop, result<release>& into) -> task<void> {
    periodic clock{loop, {.period = std::chrono::hours{1}}};
    into = co_await clock.next();
    into = co_await clock.next();
  }(*loop_, ended));
  settle();
  loop_->request_stop();
  loop_->run();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code(), errc::cancelled);
}

TEST_F(periodic_time_test, a_deadline_of_the_task_ends_the_wait_and_skips_nothing) {
  const time_point start = loop_->now();
  std::vector<std::uint64_t> runs;
  loop_->spawn([](event_loop& loop, std::vector<std::uint64_t>& into) -> task<void> {
    periodic clock{loop, {.period = milliseconds{10}, .phase = milliseconds{10}}};
    const auto next = [](periodic& of) -> task<result<release>> { co_return co_await of.next(); };
    const auto late = co_await with_timeout(milliseconds{4}, next(clock));
    EXPECT_EQ(late.error().code(), errc::timed_out);
    const auto then = co_await clock.next();
    if (then) into.push_back(then->number);
    EXPECT_EQ(clock.record().skipped, 0U);
  }(*loop_, runs));
  loop_->run();
  EXPECT_EQ(runs, numbers{0});
  EXPECT_EQ(loop_->now(), start + milliseconds{10});
}

TEST_F(periodic_time_test, no_period_is_refused) {
  EXPECT_THROW((periodic{*loop_, {}}), std::invalid_argument);
  EXPECT_THROW((periodic{*loop_, {.period = -milliseconds{1}}}), std::invalid_argument);
}

class periodic_test : public on_any_backend {};
INSTANTIATE_TEST_SUITE_P(backends, periodic_test, every_backend, backend_name);

/// Where work takes time.
class periodic_kernel_test : public on_any_backend {};
INSTANTIATE_TEST_SUITE_P(backends, periodic_kernel_test, kernel_backends, backend_name);

/// Keeps the loop, by the clock.
void work_until(time_point when) {
  while (std::chrono::steady_clock::now() < when) {}
}

TEST_P(periodic_test, runs_no_sooner_than_due_and_allocates_nothing) {
  loop_->spawn([](event_loop& loop) -> task<void> {
    periodic clock{loop, {.period = microseconds{200}}};
    for (int i = 0; i < 10; ++i) std::ignore = co_await clock.next();
    const testing::allocation_counter since;
    for (int i = 0; i < 100; ++i) {
      const auto now = co_await clock.next();
      EXPECT_TRUE(now && now->latency() >= duration::zero());
    }
    const std::uint64_t allocations = since.allocations();
    EXPECT_EQ(allocations, 0U);
    EXPECT_EQ(clock.record().runs, 109U);
    EXPECT_EQ(clock.record().latency.count(), 109U);
  }(*loop_));
  loop_->run();
}

TEST_P(periodic_kernel_test, a_run_that_works_too_long_is_told_of_as_that) {
  std::vector<deadline_miss> misses;
  loop_->spawn([](event_loop& loop, std::vector<deadline_miss>& into) -> task<void> {
    periodic clock{loop, {.period = milliseconds{2}, .deadline = milliseconds{1}}};
    clock.on_miss([&](const deadline_miss& miss) { into.push_back(miss); });
    const auto now = co_await clock.next();
    const thread_usage before = thread_usage::read();
    while ((thread_usage::read() - before).processor < milliseconds{3}) {}
    EXPECT_TRUE(now);
    std::ignore = co_await clock.next();
  }(*loop_, misses));
  loop_->run();
  ASSERT_GE(misses.size(), 1U);
  EXPECT_GE(misses.front().shares.work, milliseconds{3});
  EXPECT_TRUE(describe(misses.front()).starts_with("run 0 ended ")) << describe(misses.front());
}

TEST_P(periodic_kernel_test, those_who_kept_the_loop_are_told_of) {
  std::vector<deadline_miss> misses;
  loop_->spawn([](event_loop& loop, std::vector<deadline_miss>& into) -> task<void> {
    periodic clock{loop, {.period = milliseconds{20}, .deadline = milliseconds{1}}};
    clock.on_miss([&](const deadline_miss& miss) { into.push_back(miss); });
    const auto first = co_await clock.next();
    scope others{co_await this_task::environment()};
    others.spawn([](event_loop&, time_point until) -> task<void> {
      work_until(until);
      co_return;
    }(loop, first->due + milliseconds{39}));
    std::ignore = co_await clock.next();
    co_await others.join();
    std::ignore = co_await clock.next();
  }(*loop_, misses));
  loop_->run();
  ASSERT_GE(misses.size(), 1U);
  const deadline_miss& late = misses.back();
  EXPECT_EQ(late.number, 1U) << describe(late);
  EXPECT_GE(late.shares.predecessors, milliseconds{15});
  EXPECT_EQ(late.shares.wakeup, duration::zero()) << "it did not wait";
  EXPECT_EQ(late.cause, miss_cause::long_predecessor);
  EXPECT_TRUE(describe(late).contains(": long predecessor, ")) << describe(late);
  EXPECT_TRUE(std::string_view{late.predecessor.file_name()}.ends_with("periodic_test.cpp"))
      << describe(late);
}

TEST_F(periodic_time_test, the_nearest_deadline_runs_first) {
  std::string order;
  const auto once = [](event_loop& loop, char name, duration deadline,
                       std::string& into) -> task<void> {
    periodic clock{
        loop, {.period = std::chrono::hours{1}, .deadline = deadline, .phase = milliseconds{1}}};
    if (co_await clock.next()) into += name;
  };
  loop_->spawn(once(*loop_, 'c', milliseconds{30}, order));
  loop_->spawn(once(*loop_, 'a', milliseconds{10}, order));
  loop_->spawn(once(*loop_, 'd', milliseconds{40}, order));
  loop_->spawn(once(*loop_, 'b', milliseconds{20}, order));
  loop_->run();
  EXPECT_EQ(order, "abcd");
}

class periodic_order_test : public loop_fixture,
                            public ::testing::WithParamInterface<backend_kind> {
 protected:
  // So that others are ready already when the release is seen.
  void SetUp() override {
    open({.backend = GetParam(), .resumptions_per_turn = 1, .shuffle_seed = 0});
  }
};
INSTANTIATE_TEST_SUITE_P(backends, periodic_order_test, kernel_backends, backend_name);

TEST_P(periodic_order_test, a_release_goes_before_those_who_are_ready_already) {
  std::string order;
  loop_->spawn([](event_loop& loop, std::string& into) -> task<void> {
    periodic clock{loop, {.period = std::chrono::hours{1}, .phase = milliseconds{1}}};
    std::ignore = co_await clock.next();
    into += 'r';
  }(*loop_, order));
  const auto others = [](std::string& into, char name, duration length) -> task<void> {
    work_until(std::chrono::steady_clock::now() + length);
    into += name;
    co_return;
  };
  loop_->spawn(others(order, 'a', milliseconds{3}));
  loop_->spawn(others(order, 'b', duration::zero()));
  loop_->spawn(others(order, 'c', duration::zero()));
  loop_->run();
  EXPECT_EQ(order, "abrc") << "b was taken in the turn that saw the time";
}

}  // namespace
}  // namespace weft::realtime
