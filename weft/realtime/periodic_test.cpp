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

TEST_F(periodic_time_test, who_had_no_run_before_waited_for_none) {
  const time_point start = loop_->now() - milliseconds{25};
  run({.period = milliseconds{10},
       .deadline = milliseconds{1},
       .start = start,
       .overrun = overrun_policy::notify},
      lengths(1));
  ASSERT_EQ(misses_.size(), 1U);
  EXPECT_EQ(misses_.front().number, 2U);
  EXPECT_EQ(misses_.front().before.own_run, duration::zero());
  EXPECT_FALSE(describe(misses_.front()).contains("its own run before"));
}

TEST_F(periodic_time_test, its_own_run_before_counts_for_as_long_as_it_was) {
  run({.period = milliseconds{10}, .overrun = overrun_policy::catch_up},
      {milliseconds{35}, milliseconds{1}, milliseconds{0}});
  ASSERT_EQ(misses_.size(), 3U);
  EXPECT_EQ(misses_[1].before.own_run, milliseconds{25}) << "of 35, after this one was due";
  EXPECT_EQ(misses_[2].before.own_run, milliseconds{1}) << "though it was due 16 before";
  EXPECT_FALSE(describe(misses_[2]).contains("its own run before"));
}

TEST_F(periodic_time_test, a_stop_request_ends_the_wait_of_who_is_held_back) {
  result<release> ended;
  periodic clock{*loop_, {.period = milliseconds{1}, .start = loop_->now() - milliseconds{5}}};
  const auto wait = [&]() -> task<void> { ended = co_await clock.next(); };
  const auto stop = [&]() -> task<void> {
    loop_->request_stop();
    co_return;
  };
  loop_->spawn(wait());
  loop_->spawn(stop(), priority::idle);
  loop_->run();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code(), errc::cancelled);
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
  EXPECT_EQ(misses_.back().before.own_run, milliseconds{5});
}

TEST_F(periodic_time_test, what_makes_it_late_each_time_is_the_cause_each_time) {
  lengths all;
  for (int i = 0; i < 10; ++i) all.insert(all.end(), {milliseconds{16}, milliseconds{14}});
  run({.period = milliseconds{10}}, all);
  ASSERT_EQ(misses_.size(), 20U);
  // It sleeps all the time, unless a neighbour keeps it off its processor for longer.
  for (const deadline_miss& each : misses_) {
    const bool is_kept_off = each.queued && *each.queued >= each.shares.absence / 2;
    EXPECT_EQ(each.cause, is_kept_off ? miss_cause::preempted : miss_cause::blocked)
        << describe(each);
  }
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

TEST_F(periodic_time_test, no_period_and_lengths_below_zero_are_refused) {
  EXPECT_THROW((periodic{*loop_, {}}), std::invalid_argument);
  EXPECT_THROW((periodic{*loop_, {.period = -milliseconds{1}}}), std::invalid_argument);
  const duration length = milliseconds{1};
  EXPECT_THROW((periodic{*loop_, {.period = length, .deadline = -length}}), std::invalid_argument);
  EXPECT_THROW((periodic{*loop_, {.period = length, .phase = -length}}), std::invalid_argument);
  EXPECT_THROW((periodic{*loop_, {.period = length, .execution = -length}}), std::invalid_argument);
}

TEST_F(periodic_time_test, times_that_no_clock_holds_are_refused) {
  const duration period = milliseconds{1};
  EXPECT_THROW((periodic{*loop_, {.period = duration::max()}}), std::invalid_argument);
  EXPECT_THROW((periodic{*loop_, {.period = period, .phase = duration::max()}}),
               std::invalid_argument);
  EXPECT_THROW((periodic{*loop_, {.period = period, .start = time_point::max()}}),
               std::invalid_argument);
  EXPECT_THROW((periodic{*loop_, {.period = period, .start = time_point::min()}}),
               std::invalid_argument);
}

TEST_F(periodic_time_test, the_longest_lengths_that_are_taken_are_no_overflow) {
  constexpr duration fifty_years = std::chrono::hours{24} * 365 * 50;
  const time_point start = loop_->now();
  const seen runs = run({.period = fifty_years, .phase = fifty_years}, lengths(1));
  EXPECT_EQ(runs.numbers, numbers{0});
  EXPECT_EQ(loop_->now(), start + 2 * fifty_years);
}

TEST_F(periodic_time_test, tasks_with_one_start_are_on_one_grid) {
  const time_point start = loop_->now();
  std::vector<duration> due;
  const auto twice = [](event_loop& loop, duration made_after, const periodic_options& options,
                        std::vector<duration>& into) -> task<void> {
    std::ignore = co_await sleep_for(loop, made_after);
    periodic clock{loop, options};
    for (int i = 0; i < 2; ++i)
      if (const auto now = co_await clock.next()) into.push_back(now->due - *options.start);
  };
  const periodic_options on_grid{.period = milliseconds{10}, .start = start};
  periodic_options between = on_grid;
  between.phase = milliseconds{5};
  loop_->spawn(twice(*loop_, milliseconds{3}, on_grid, due));
  loop_->spawn(twice(*loop_, milliseconds{14}, between, due));
  loop_->run();
  EXPECT_EQ(due, (lengths{milliseconds{10}, milliseconds{15}, milliseconds{20}, milliseconds{25}}));
}

TEST_F(periodic_time_test, a_second_waiter_is_a_bug) {
  const auto wait_twice = [&] {
    periodic clock{*loop_, {.period = milliseconds{1}, .phase = milliseconds{1}}};
    const auto once = [](periodic& of) -> task<void> { std::ignore = co_await of.next(); };
    loop_->spawn(once(clock));
    loop_->spawn(once(clock));
    loop_->run();
  };
  EXPECT_DEATH(wait_twice(), "one task's");
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
  EXPECT_EQ(late.before.longest.kind, piece_kind::task);
  EXPECT_TRUE(
      std::string_view{late.before.longest.resumed_at.file_name()}.ends_with("periodic_test.cpp"))
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
  loop_->spawn(once(*loop_, 'e', duration::max(), order));
  loop_->run();
  EXPECT_EQ(order, "abcde");
}

class periodic_order_test : public loop_fixture,
                            public ::testing::WithParamInterface<backend_kind> {
 protected:
  void SetUp() override { open({.backend = GetParam(), .shuffle_seed = 0}); }
};
INSTANTIATE_TEST_SUITE_P(backends, periodic_order_test, kernel_backends, backend_name);

TEST_P(periodic_order_test, a_release_goes_before_those_who_are_ready_already) {
  std::string order;
  periodic clock{*loop_, {.period = std::chrono::hours{1}, .phase = milliseconds{1}}};
  loop_->spawn([](periodic& releases, std::string& into) -> task<void> {
    std::ignore = co_await releases.next();
    into += 'r';
  }(clock, order));
  const auto others = [](std::string& into, char name, duration length) -> task<void> {
    work_until(std::chrono::steady_clock::now() + length);
    into += name;
    co_return;
  };
  loop_->spawn(others(order, 'a', milliseconds{3}));
  loop_->spawn(others(order, 'b', duration::zero()));
  loop_->spawn(others(order, 'c', duration::zero()));
  loop_->run();
  EXPECT_EQ(order, "arbc") << "a took longer than the release was away";
}

TEST_P(periodic_order_test, a_release_goes_before_who_gives_way_again_and_again) {
  bool is_released = false;
  int steps_after = 0;
  periodic clock{*loop_, {.period = std::chrono::hours{1}, .phase = milliseconds{1}}};
  loop_->spawn([](periodic& releases, bool& into) -> task<void> {
    into = (co_await releases.next()).has_value();
  }(clock, is_released));
  loop_->spawn([](event_loop& loop, const bool& released, int& late) -> task<void> {
    const auto due = std::chrono::steady_clock::now() + milliseconds{2};
    for (int i = 0; i < 400 && !released; ++i) {
      work_until(std::chrono::steady_clock::now() + microseconds{100});
      if (std::chrono::steady_clock::now() > due) ++late;
      co_await yield{loop};
    }
  }(*loop_, is_released, steps_after));
  loop_->run();
  EXPECT_TRUE(is_released);
  EXPECT_LE(steps_after, 1) << "whoever works when it falls due, and no other";
}

/// More than a processor has.
struct overload {
  unsigned tasks;
  overrun_policy policy;
};

class overload_test : public loop_fixture,
                      public ::testing::WithParamInterface<std::tuple<backend_kind, overload>> {
 protected:
  void SetUp() override { open({.backend = std::get<0>(GetParam())}); }
};
INSTANTIATE_TEST_SUITE_P(
    backends, overload_test,
    ::testing::Combine(kernel_backends, ::testing::Values(overload{1, overrun_policy::catch_up},
                                                          overload{1, overrun_policy::notify},
                                                          overload{2, overrun_policy::skip},
                                                          overload{3, overrun_policy::notify})));

TEST_P(overload_test, leaves_others_a_turn_for_each_run_that_is_late) {
  constexpr int steps_wanted = 20;
  constexpr int runs_most = 500;
  const auto [tasks, policy] = std::get<1>(GetParam());
  int steps = 0;
  int runs = 0;
  const auto overrun = [&](event_loop& loop, overrun_policy of) -> task<void> {
    periodic clock{loop, {.period = microseconds{100}, .overrun = of}};
    for (; steps < steps_wanted && runs < runs_most; ++runs) {
      std::ignore = co_await clock.next();
      work_until(std::chrono::steady_clock::now() + microseconds{300});
    }
  };
  for (unsigned i = 0; i < tasks; ++i) loop_->spawn(overrun(*loop_, policy));
  const auto others = [&](event_loop& loop) -> task<void> {
    std::ignore = co_await sleep_for(loop, milliseconds{2});
    for (; steps < steps_wanted && runs < runs_most; ++steps) co_await yield{loop};
  };
  loop_->spawn(others(*loop_));
  loop_->run();
  EXPECT_EQ(steps, steps_wanted) << "after " << runs << " runs";
}

TEST_P(periodic_kernel_test, who_runs_while_a_release_is_held_back_is_told_of) {
  deadline_miss late;
  loop_->spawn([](event_loop& loop, deadline_miss& into) -> task<void> {
    periodic clock{loop, {.period = milliseconds{10}, .overrun = overrun_policy::catch_up}};
    clock.on_miss([&](const deadline_miss& miss) {
      if (miss.number == 1) into = miss;
    });
    std::ignore = co_await clock.next();
    scope others{co_await this_task::environment()};
    others.spawn([]() -> task<void> {
      work_until(std::chrono::steady_clock::now() + milliseconds{40});
      co_return;
    }());
    work_until(std::chrono::steady_clock::now() + milliseconds{12});
    std::ignore = co_await clock.next();
    co_await others.join();
    std::ignore = co_await clock.next();
  }(*loop_, late));
  loop_->run();
  EXPECT_EQ(late.cause, miss_cause::long_predecessor) << describe(late);
  EXPECT_GE(late.before.longest.lasted, milliseconds{40}) << describe(late);
  EXPECT_FALSE(describe(late).contains("its own run before")) << describe(late);
}

}  // namespace
}  // namespace weft::realtime
