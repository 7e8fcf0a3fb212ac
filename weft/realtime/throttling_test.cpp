#include <weft/realtime/throttling.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <weft/coro/task.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/realtime/periodic.hpp>
#include <weft/realtime/thread_setup.hpp>

namespace weft::realtime {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(throttling, before_6_12_it_is_the_limit) {
  const throttle_limits found = limits_of({.major = 6, .minor = 11});
  EXPECT_EQ(found.by, throttle::rt_runtime);
  EXPECT_EQ(found.runtime, milliseconds{950});
  EXPECT_EQ(found.period, seconds{1});
  EXPECT_EQ(limits_of({.major = 5, .minor = 15}).by, throttle::rt_runtime);
}

TEST(throttling, before_6_12_there_is_none_without_a_limit) {
  EXPECT_EQ(limits_of({.major = 6, .minor = 11, .rt_runtime_us = -1}).by, throttle::none);
  EXPECT_EQ(limits_of({.major = 6, .minor = 11, .rt_runtime_us = 1'000'000}).by, throttle::none);
}

TEST(throttling, since_6_12_it_is_the_fair_server) {
  const throttle_limits found = limits_of({.major = 6, .minor = 12});
  EXPECT_EQ(found.by, throttle::fair_server);
  EXPECT_EQ(found.runtime, milliseconds{950});
  EXPECT_EQ(limits_of({.major = 7, .minor = 0, .rt_runtime_us = -1}).by, throttle::fair_server)
      << "which the limit does not turn off";
}

TEST(throttling, the_fair_server_is_as_it_was_told_to_be) {
  EXPECT_EQ(limits_of({.major = 6, .minor = 18, .fair_runtime_ns = 0}).by, throttle::none);
  EXPECT_EQ(limits_of({.major = 6, .minor = 18, .fair_runtime_ns = 10'000'000}).runtime,
            milliseconds{990});
}

TEST(throttling, since_6_12_control_groups_alone_have_the_limit) {
  const throttle_limits found =
      limits_of({.major = 6, .minor = 18, .has_rt_groups = true, .group_runtime_us = 400'000});
  EXPECT_EQ(found.by, throttle::rt_runtime);
  EXPECT_EQ(found.runtime, milliseconds{400});
  EXPECT_EQ(limits_of({.major = 6, .minor = 18, .rt_runtime_us = -1, .has_rt_groups = true}).by,
            throttle::fair_server);
}

TEST(throttling, what_the_kernel_says_here_can_be_read) {
  const kernel_facts facts = kernel_facts::read();
  EXPECT_GE(facts.major, 3U);
  EXPECT_GT(facts.rt_period_us, 0);
}

/// Whether this thread may be before all others; it is from now on.
bool become_realtime() {
  cpu_set_t cpus;
  EXPECT_EQ(::sched_getaffinity(0, sizeof cpus, &cpus), 0);
  unsigned cpu = CPU_SETSIZE - 1;
  while (!CPU_ISSET(cpu, &cpus)) --cpu;
  const applied_setup made = apply({.policy = scheduling::fifo, .priority = 1, .cpu = cpu});
  return made.is_whole();
}

TEST(throttling, who_is_no_realtime_thread_is_not_throttled) {
  throttle_watch watch{limits_of({.major = 6, .minor = 1})};
  const time_point start{};
  watch.note(start, duration::zero());
  watch.note(start + seconds{2}, seconds{2});
  EXPECT_EQ(watch.find(milliseconds{50}, seconds{2}).by, throttle::none);
}

TEST(throttling, is_found_by_the_policy_the_share_and_the_length) {
  std::thread{[] {
    if (!become_realtime()) GTEST_SKIP() << "no SCHED_FIFO here";
    const time_point start{};
    throttle_watch busy{limits_of({.major = 6, .minor = 1})};
    busy.note(start, duration::zero());
    busy.note(start + seconds{1}, milliseconds{950});
    EXPECT_EQ(busy.find(milliseconds{50}, milliseconds{950}).by, throttle::rt_runtime);
    EXPECT_EQ(busy.find(milliseconds{1}, milliseconds{950}).by, throttle::none) << "too short";
    throttle_watch idle{limits_of({.major = 6, .minor = 1})};
    idle.note(start, duration::zero());
    idle.note(start + seconds{1}, milliseconds{500});
    EXPECT_EQ(idle.find(milliseconds{50}, milliseconds{500}).by, throttle::none) << "preempted";
    throttle_watch free{limits_of({.major = 6, .minor = 1, .rt_runtime_us = -1})};
    free.note(start, duration::zero());
    free.note(start + seconds{1}, seconds{1});
    EXPECT_EQ(free.find(milliseconds{50}, seconds{1}).by, throttle::none) << "no limit";
  }}.join();
}

/// Keeps its processor for longer than it may, until it has been told of it.
task<void> hog(event_loop& loop, std::vector<deadline_miss>& misses) {
  periodic clock{loop,
                 {.period = milliseconds{10}, .overrun = overrun_policy::catch_up, .name = "hog"}};
  clock.on_miss([&](const deadline_miss& miss) {
    if (miss.cause == miss_cause::throttled) misses.push_back(miss);
  });
  const time_point until = std::chrono::steady_clock::now() + seconds{10};
  while (misses.empty() && std::chrono::steady_clock::now() < until) {
    if (!co_await clock.next()) co_return;
    const time_point end = std::chrono::steady_clock::now() + microseconds{9'990};
    while (std::chrono::steady_clock::now() < end) {}
  }
}

TEST(throttling, a_task_that_takes_more_than_it_may_is_told_by_what) {
  const throttle_limits limits = limits_of(kernel_facts::read());
  if (limits.by == throttle::none) GTEST_SKIP() << "nothing throttles here";
  std::optional<std::vector<deadline_miss>> misses;
  std::thread{[&] {
    // Who starves on that processor meanwhile.
    std::atomic<bool> done = false;
    std::thread starving;
    if (!become_realtime()) return;
    starving = std::thread{[&] {
      while (!done) {}
    }};
    misses.emplace();
    auto loop = event_loop::create({.backend = backend_kind::epoll});
    ASSERT_TRUE(loop);
    (*loop)->spawn(hog(**loop, *misses));
    (*loop)->run();
    done = true;
    starving.join();
  }}.join();
  if (!misses) GTEST_SKIP() << "no SCHED_FIFO here: `setcap cap_sys_nice+ep` would allow it";
  ASSERT_FALSE(misses->empty()) << "it ran for 10 s, and was not throttled";
  EXPECT_EQ(misses->front().throttled_by.by, limits.by);
  EXPECT_TRUE(describe(misses->front())
                  .contains(std::string{"throttled by "} + std::string{to_string(limits.by)}))
      << describe(misses->front());
}

TEST(throttling, a_budget_that_is_used_up_is_told_of_as_that) {
  bool is_permitted = false;
  std::vector<deadline_miss> misses;
  std::thread{[&] {
    const deadline_budget budget{
        .runtime = milliseconds{1}, .deadline = milliseconds{10}, .period = milliseconds{10}};
    auto loop = event_loop::create({.backend = backend_kind::epoll});
    is_permitted = apply({.policy = scheduling::deadline, .budget = budget}).is_whole();
    if (!is_permitted) return;
    (*loop)->spawn([](event_loop& on, std::vector<deadline_miss>& into) -> task<void> {
      periodic clock{on, {.period = milliseconds{10}}};
      clock.on_miss([&](const deadline_miss& miss) { into.push_back(miss); });
      std::ignore = co_await clock.next();
      const thread_usage before = thread_usage::read();
      while ((thread_usage::read() - before).processor < milliseconds{3}) {}
      std::ignore = co_await clock.next();
    }(**loop, misses));
    (*loop)->run();
  }}.join();
  if (!is_permitted) GTEST_SKIP() << "no SCHED_DEADLINE here";
  ASSERT_FALSE(misses.empty());
  EXPECT_TRUE(describe(misses.front())
                  .contains(": throttled by own budget, which leaves it 1000 of each 10000 us"))
      << describe(misses.front());
}

}  // namespace
}  // namespace weft::realtime
