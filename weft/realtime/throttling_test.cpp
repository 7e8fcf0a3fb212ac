#include <weft/realtime/throttling.hpp>

#include <gtest/gtest.h>

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/coro/task.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/realtime/own_cpu_group_test.hpp>
#include <weft/realtime/periodic.hpp>
#include <weft/realtime/thread_setup.hpp>
#include <weft/testing/allocation_counter.hpp>

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

TEST(throttling, the_fair_server_has_a_period_of_its_own) {
  const throttle_limits found = limits_of(
      {.major = 6, .minor = 18, .fair_runtime_ns = 10'000'000, .fair_period_ns = 100'000'000});
  EXPECT_EQ(found.runtime, milliseconds{90});
  EXPECT_EQ(found.period, milliseconds{100});
}

/// Files as debugfs has them.
class fair_servers {
 public:
  fair_servers() {
    for (long cpu = 0; cpu < ::sysconf(_SC_NPROCESSORS_CONF); ++cpu) {
      const auto own = folder_ / "sched/fair_server" / ("cpu" + std::to_string(cpu));
      std::filesystem::create_directories(own);
      std::ofstream{own / "runtime"} << 1'000 + cpu << '\n';
      std::ofstream{own / "period"} << 5'000 + cpu << '\n';
    }
  }
  fair_servers(const fair_servers&) = delete;
  fair_servers& operator=(const fair_servers&) = delete;
  ~fair_servers() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string folder() const { return folder_; }

 private:
  std::filesystem::path folder_ = std::filesystem::path{::testing::TempDir()} /
                                  ("weft_fair_servers_" + std::to_string(::getpid()));
};

TEST(throttling, the_fair_server_is_that_of_this_cpu) {
  const fair_servers made_up;
  std::thread{[&] {
    cpu_set_t allowed;
    ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      cpu_set_t only;
      CPU_ZERO(&only);
      CPU_SET(cpu, &only);
      ASSERT_EQ(::sched_setaffinity(0, sizeof only, &only), 0);
      const kernel_facts facts = kernel_facts::read(made_up.folder());
      EXPECT_EQ(facts.fair_runtime_ns, 1'000 + cpu);
      EXPECT_EQ(facts.fair_period_ns, 5'000 + cpu);
    }
  }}.join();
}

TEST(throttling, since_6_12_control_groups_alone_have_the_limit) {
  const throttle_limits found =
      limits_of({.major = 6, .minor = 18, .has_rt_groups = true, .group_runtime_us = 400'000});
  EXPECT_EQ(found.by, throttle::rt_runtime);
  EXPECT_EQ(found.runtime, milliseconds{400});
  EXPECT_EQ(limits_of({.major = 6, .minor = 18, .rt_runtime_us = -1, .has_rt_groups = true}).by,
            throttle::fair_server);
}

TEST(throttling, the_limit_of_a_group_is_of_the_groups_own_period) {
  const throttle_limits found = limits_of({.major = 6,
                                           .minor = 18,
                                           .has_rt_groups = true,
                                           .group_runtime_us = 200'000,
                                           .group_period_us = 250'000});
  EXPECT_EQ(found.by, throttle::rt_runtime);
  EXPECT_EQ(found.runtime, milliseconds{200});
  EXPECT_EQ(found.period, milliseconds{250});
}

TEST(throttling, of_two_that_leave_as_much_nobody_knows_which_it_is) {
  const throttle_limits found = limits_of({.major = 6, .minor = 18, .has_rt_groups = true});
  EXPECT_EQ(found.by, throttle::either);
  EXPECT_EQ(found.runtime, milliseconds{950});
  EXPECT_EQ(found.period, seconds{1});
  EXPECT_EQ(
      limits_of({.major = 6, .minor = 18, .rt_runtime_us = 990'000, .has_rt_groups = true}).by,
      throttle::either)
      << "where nobody starves it is the limit";
  EXPECT_EQ(limits_of({.major = 6, .minor = 18, .has_rt_groups = true, .fair_runtime_ns = 0}).by,
            throttle::rt_runtime);
}

TEST(throttling, the_group_is_that_of_this_thread) {
  std::thread{[] {
    const own_cpu_group group;
    if (!group.is_there()) GTEST_SKIP() << "no control group of version 1 can be made here";
    const kernel_facts facts = kernel_facts::read();
    EXPECT_TRUE(facts.has_rt_groups);
    EXPECT_EQ(facts.group_runtime_us, 0);
    EXPECT_EQ(facts.group_period_us, 250'000);
  }}.join();
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

/// A file as sched_rt_runtime_us is one.
class told_runtime {
 public:
  explicit told_runtime(const char* text) { tell(text); }
  told_runtime(const told_runtime&) = delete;
  told_runtime& operator=(const told_runtime&) = delete;
  ~told_runtime() { std::filesystem::remove(path_); }
  void tell(const char* text) const { std::ofstream{path_} << text << '\n'; }
  [[nodiscard]] const char* path() const noexcept { return path_.c_str(); }

 private:
  std::string path_ = ::testing::TempDir() + "weft_rt_runtime_" + std::to_string(::getpid());
};

/// Made-up notes of a thread that has had so much by then, and was away last: what was that?
throttle found_by(const kernel_facts& facts, duration absence,
                  std::initializer_list<std::pair<duration, duration>> notes) {
  const told_runtime limit{"950000"};
  throttle_watch watch{limits_of(facts), {.rt_runtime = limit.path()}};
  for (const auto& [at, processor] : notes) watch.note(time_point{} + at, processor);
  return watch.find(absence, duration::zero()).by;
}

/// On a thread that is before all others.
void as_realtime(void (*look)()) {
  std::thread{[look] {
    if (!become_realtime())
      GTEST_SKIP() << "SCHED_FIFO is not permitted here: `setcap cap_sys_nice+ep` would allow it";
    look();
  }}.join();
}

constexpr kernel_facts with_limit{.major = 6, .minor = 1};
constexpr kernel_facts with_server{.major = 6, .minor = 18};

TEST(throttling, is_found_by_what_was_used_and_the_length) {
  as_realtime([] {
    const auto busy = {std::pair<duration, duration>{seconds{0}, seconds{0}},
                       {seconds{1}, milliseconds{950}}};
    EXPECT_EQ(found_by(with_limit, milliseconds{50}, busy), throttle::rt_runtime);
    EXPECT_EQ(found_by(with_server, milliseconds{50}, busy), throttle::fair_server);
    EXPECT_EQ(found_by({.major = 6, .minor = 1, .rt_runtime_us = -1}, milliseconds{50}, busy),
              throttle::none);
  });
}

TEST(throttling, who_was_away_for_less_than_half_of_it_was_preempted) {
  as_realtime([] {
    const auto busy = {std::pair<duration, duration>{seconds{0}, seconds{0}},
                       {seconds{1}, milliseconds{976}}};
    EXPECT_EQ(found_by(with_limit, milliseconds{24}, busy), throttle::none);
    EXPECT_EQ(found_by(with_server, milliseconds{24}, busy), throttle::none);
    EXPECT_EQ(found_by(with_server, milliseconds{25}, busy), throttle::fair_server);
  });
}

TEST(throttling, who_has_not_had_what_it_may_was_preempted) {
  as_realtime([] {
    const auto quite_busy = {std::pair<duration, duration>{seconds{0}, seconds{0}},
                             {seconds{1}, milliseconds{880}}};
    EXPECT_EQ(found_by(with_limit, milliseconds{50}, quite_busy), throttle::none);
    EXPECT_EQ(found_by(with_server, milliseconds{50}, quite_busy), throttle::none);
    EXPECT_EQ(found_by(with_limit, seconds{9}, quite_busy), throttle::none);
    const auto busier = {std::pair<duration, duration>{seconds{0}, seconds{0}},
                         {seconds{1}, milliseconds{885}}};
    EXPECT_EQ(found_by(with_limit, milliseconds{50}, busier), throttle::rt_runtime)
        << "another of its kind may have had the rest";
  });
}

TEST(throttling, what_was_used_before_the_last_period_does_not_count) {
  as_realtime([] {
    EXPECT_EQ(found_by(with_limit, milliseconds{50},
                       {{seconds{0}, seconds{0}},
                        {milliseconds{900}, milliseconds{900}},
                        {milliseconds{1850}, milliseconds{1720}}}),
              throttle::none);
    EXPECT_EQ(found_by(with_limit, milliseconds{50},
                       {{seconds{0}, seconds{0}},
                        {milliseconds{5000}, seconds{0}},
                        {milliseconds{6000}, milliseconds{950}}}),
              throttle::rt_runtime)
        << "it had slept before";
  });
}

TEST(throttling, a_run_of_several_periods_was_throttled_in_each) {
  as_realtime([] {
    constexpr auto found = [](duration lasted, duration had, duration away) {
      return found_by(with_limit, away, {{seconds{0}, seconds{0}}, {lasted, had}});
    };
    EXPECT_EQ(found(seconds{3}, milliseconds{2850}, milliseconds{150}), throttle::rt_runtime);
    EXPECT_EQ(found(seconds{10}, milliseconds{9500}, milliseconds{500}), throttle::rt_runtime);
    EXPECT_EQ(found(seconds{5}, milliseconds{4750}, milliseconds{50}), throttle::rt_runtime)
        << "woken late by a loop that polls";
    EXPECT_EQ(found(seconds{3}, milliseconds{2600}, milliseconds{400}), throttle::none);
    EXPECT_EQ(found_by(with_limit, milliseconds{60},
                       {{seconds{0}, seconds{0}},
                        {seconds{9}, seconds{9}},
                        {seconds{10}, milliseconds{9500}}}),
              throttle::none)
        << "what it had in the last of them is known";
  });
}

TEST(throttling, a_period_is_remembered_however_many_notes_it_has) {
  as_realtime([] {
    const told_runtime limit{"950000"};
    throttle_watch watch{limits_of(with_limit), {.rt_runtime = limit.path()}};
    for (milliseconds at{0}; at <= seconds{10}; at += milliseconds{1})
      watch.note(time_point{} + at, at - 50 * (at / seconds{1}) * milliseconds{1});
    EXPECT_EQ(watch.find(milliseconds{50}, duration::zero()).by, throttle::rt_runtime);
  });
}

TEST(throttling, a_limit_that_was_lifted_since_is_not_named) {
  as_realtime([] {
    const told_runtime limit{"950000"};
    throttle_watch watch{limits_of(with_limit), {.rt_runtime = limit.path()}};
    watch.note(time_point{}, duration::zero());
    watch.note(time_point{} + seconds{1}, milliseconds{950});
    EXPECT_EQ(watch.find(milliseconds{50}, duration::zero()).by, throttle::rt_runtime);
    limit.tell("-1");
    const testing::allocation_counter since;
    const throttle_limits found = watch.find(milliseconds{50}, duration::zero());
    const std::uint64_t allocations = since.allocations();
    EXPECT_EQ(found.by, throttle::none);
    EXPECT_EQ(allocations, 0U);
  });
}

constexpr kernel_facts with_both{.major = 6, .minor = 18, .has_rt_groups = true};

TEST(throttling, of_two_the_one_that_was_lifted_since_is_not_named) {
  as_realtime([] {
    const told_runtime limit{"950000"};
    throttle_watch watch{limits_of(with_both), {.rt_runtime = limit.path(), .timers = "/none"}};
    watch.note(time_point{}, duration::zero());
    watch.note(time_point{} + seconds{1}, milliseconds{950});
    EXPECT_EQ(watch.find(milliseconds{50}, milliseconds{950}).by, throttle::either);
    limit.tell("-1");
    EXPECT_EQ(watch.find(milliseconds{50}, milliseconds{950}).by, throttle::fair_server);
  });
}

TEST(throttling, of_two_it_is_the_limit_where_nobody_wanted_the_cpu) {
  as_realtime([] {
    const told_runtime limit{"990000"};
    const std::string path = limit.path() + std::string{"_timers"};
    throttle_watch watch{limits_of(with_both),
                         {.rt_runtime = limit.path(), .timers = path.c_str()}};
    watch.note(time_point{} + seconds{1}, duration::zero());
    watch.note(time_point{} + seconds{2}, milliseconds{950});
    const auto found_if_idle_at = [&](const char* at_ns) {
      std::ofstream{path} << "cpu: " << ::sched_getcpu() << "\n  .idle_entrytime : " << at_ns
                          << " nsecs\n";
      return watch.find(milliseconds{50}, milliseconds{950});
    };
    EXPECT_EQ(found_if_idle_at("999000000").by, throttle::either) << "before the run";
    const throttle_limits found = found_if_idle_at("1950000000");
    EXPECT_EQ(found.by, throttle::rt_runtime);
    EXPECT_EQ(found.runtime, milliseconds{990});
    std::filesystem::remove(path);
  });
}

constexpr deadline_budget two_of_ten{
    .runtime = milliseconds{2}, .deadline = milliseconds{10}, .period = milliseconds{10}};

/// On a thread that has such a budget from when the watch is made.
void with_budget(void (*look)(throttle_watch& watch)) {
  std::thread{[look] {
    if (!apply({.policy = scheduling::deadline, .budget = two_of_ten}).is_whole())
      GTEST_SKIP() << "no SCHED_DEADLINE here";
    throttle_watch watch{limits_of(with_limit)};
    look(watch);
  }}.join();
}

/// Runs of each millisecond that take so much, noted as they begin and as they end.
void note_runs(throttle_watch& watch, int count, duration work) {
  for (int run = 0; run < count; ++run) {
    const time_point begun = time_point{} + milliseconds{run};
    watch.note(begun, run * work);
    watch.note(begun + work, (run + 1) * work);
  }
}

TEST(throttling, a_budget_may_be_used_up_by_several_runs) {
  with_budget([](throttle_watch& watch) {
    constexpr duration work = microseconds{500};
    note_runs(watch, 3, work);
    const time_point last = time_point{} + milliseconds{3};
    watch.note(last, 3 * work);
    watch.note(last + milliseconds{7}, 4 * work);
    EXPECT_EQ(watch.find(microseconds{6500}, work).by, throttle::own_budget);
    EXPECT_EQ(watch.find(microseconds{6500}, work).runtime, two_of_ten.runtime);
  });
}

TEST(throttling, what_the_run_had_that_was_throttled_before_counts) {
  with_budget([](throttle_watch& watch) {
    constexpr duration work = microseconds{500};
    const auto note = [&](duration at, int runs) { watch.note(time_point{} + at, runs * work); };
    note(milliseconds{0}, 0);
    note(microseconds{6500}, 1);
    note(milliseconds{7}, 1);
    note(microseconds{7500}, 2);
    note(milliseconds{8}, 2);
    note(microseconds{8500}, 3);
    note(milliseconds{9}, 3);
    note(milliseconds{16}, 4);
    EXPECT_EQ(watch.find(microseconds{6500}, work).by, throttle::own_budget);
  });
}

TEST(throttling, who_has_a_budget_left_was_preempted) {
  with_budget([](throttle_watch& watch) {
    constexpr duration work = microseconds{180};
    note_runs(watch, 30, work);
    EXPECT_EQ(watch.find(microseconds{500}, work).by, throttle::none);
  });
}

TEST(throttling, who_was_never_away_was_not_throttled) {
  with_budget([](throttle_watch& watch) {
    watch.note(time_point{}, duration::zero());
    watch.note(time_point{} + milliseconds{2}, milliseconds{2});
    EXPECT_EQ(watch.find(duration::zero(), milliseconds{2}).by, throttle::none);
  });
}

duration processor_time_of(std::thread& other) {
  clockid_t clock{};
  timespec had{};
  EXPECT_EQ(::pthread_getcpuclockid(other.native_handle(), &clock), 0);
  EXPECT_EQ(::clock_gettime(clock, &had), 0);
  return seconds{had.tv_sec} + duration{had.tv_nsec};
}

void work_for(duration processor) {
  const thread_usage before = thread_usage::read();
  while ((thread_usage::read() - before).processor < processor) {}
}

/// Works for as long as it may until that was in time, and then for longer. What another had of the
/// processor meanwhile is what tells that it was throttled. Between its runs it sleeps for longer
/// than the kernel's period.
task<void> hog(event_loop& loop, std::thread& other, deadline_miss& into, duration& had,
               bool& has_usual) {
  periodic clock{loop, {.period = milliseconds{2200}, .deadline = milliseconds{990}}};
  clock.on_miss([&](const deadline_miss& miss) { into = miss; });
  std::ignore = co_await clock.next();
  for (int run = 0; run < 4 && clock.record().runs == clock.record().misses; ++run) {
    work_for(milliseconds{920});
    std::ignore = co_await clock.next();
  }
  has_usual = clock.record().runs != clock.record().misses;
  const duration before = processor_time_of(other);
  work_for(milliseconds{957});
  had = processor_time_of(other) - before;
  loop.request_stop();
  std::ignore = co_await clock.next();
}

TEST(throttling, who_is_overtaken_by_a_thread_of_no_priority_was_throttled) {
  const throttle_limits limits = limits_of(kernel_facts::read());
  bool is_permitted = false;
  deadline_miss miss;
  duration had{};
  bool has_usual = false;
  std::thread{[&] {
    auto loop = event_loop::create({.backend = backend_kind::epoll});
    ASSERT_TRUE(loop);
    is_permitted = become_realtime();
    if (!is_permitted) return;
    std::atomic<bool> done = false;
    // On the same CPU, and of no realtime policy.
    std::thread starving{[&] {
      while (!done) {}
    }};
    (*loop)->spawn(hog(**loop, starving, miss, had, has_usual));
    (*loop)->run();
    done = true;
    starving.join();
  }}.join();
  if (!is_permitted)
    GTEST_SKIP() << "SCHED_FIFO is not permitted here: `setcap cap_sys_nice+ep` would allow it";
  if (!has_usual || miss.shares.absence > 2 * (limits.period - limits.runtime))
    GTEST_SKIP() << "another thread of a realtime policy wants this CPU: " << describe(miss);
  if (had == duration::zero())
    GTEST_SKIP() << "nothing took the processor from a SCHED_FIFO thread here within a second";
  EXPECT_EQ(miss.cause, miss_cause::throttled) << describe(miss);
  EXPECT_EQ(miss.throttled_by.by, limits.by);
  EXPECT_GE(miss.shares.absence, had) << describe(miss);
  EXPECT_TRUE(
      describe(miss).contains(std::string{"throttled by "} + std::string{to_string(limits.by)}))
      << describe(miss);
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
