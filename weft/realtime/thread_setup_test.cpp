#include <weft/realtime/thread_setup.hpp>

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string_view>
#include <thread>

#include <weft/realtime/thread_usage.hpp>

namespace weft::realtime {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Who asks for it is not the thread that tests.
void on_a_thread(const std::function<void()>& work) { std::thread{work}.join(); }

/// The calling thread alone: the C library's calls would take the others along.
void give_up_rights() {
  constexpr uid_t nobody = 65534;
  if (::getuid() == 0) ASSERT_EQ(::syscall(SYS_setresuid, nobody, nobody, nobody), 0);
}

TEST(thread_setup, what_is_not_wished_for_is_left_as_it_is) {
  on_a_thread([] {
    const applied_setup made = apply({});
    EXPECT_TRUE(made.effects.empty());
    EXPECT_TRUE(made.is_whole());
    EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
  });
}

TEST(thread_setup, says_of_a_policy_what_the_system_says) {
  on_a_thread([] {
    const applied_setup made = apply({.policy = scheduling::fifo, .priority = 7});
    ASSERT_EQ(made.effects.size(), 1U);
    EXPECT_EQ(made.effects.front().wish, "SCHED_FIFO, priority 7");
    EXPECT_EQ(made.is_whole(), ::sched_getscheduler(0) == SCHED_FIFO);
  });
}

TEST(thread_setup, a_budget_is_a_policy_too) {
  on_a_thread([] {
    const applied_setup made = apply(
        {.policy = scheduling::deadline,
         .budget = {
             .runtime = milliseconds{1}, .deadline = milliseconds{5}, .period = milliseconds{10}}});
    ASSERT_EQ(made.effects.size(), 1U);
    EXPECT_EQ(made.effects.front().wish, "SCHED_DEADLINE, 1000 of 10000 us within 5000");
    constexpr int deadline_policy = 6;
    EXPECT_EQ(made.is_whole(), ::sched_getscheduler(0) == deadline_policy);
  });
}

TEST(thread_setup, who_may_not_is_told_why_and_what_would_allow_it) {
  on_a_thread([] {
    give_up_rights();
    const applied_setup made =
        apply({.policy = scheduling::fifo, .priority = 20, .keep_processors_awake = true});
    ASSERT_EQ(made.effects.size(), 2U);
    EXPECT_FALSE(made.is_whole());
    EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
    const std::string table = to_table(made.effects);
    EXPECT_TRUE(table.contains("processors kept awake    NO: ")) << table;
    EXPECT_TRUE(
        table.contains("SCHED_FIFO, priority 20  NO: Operation not permitted; to allow "
                       "it: `setcap cap_sys_nice+ep PROGRAM`, `ulimit -r 20`"))
        << table;
  });
}

TEST(thread_setup, is_on_its_cpu_alone) {
  on_a_thread([] {
    cpu_set_t cpus;
    ASSERT_EQ(::sched_getaffinity(0, sizeof cpus, &cpus), 0);
    unsigned cpu = 0;
    while (!CPU_ISSET(cpu, &cpus)) ++cpu;
    EXPECT_TRUE(apply({.cpu = cpu}).is_whole());
    ASSERT_EQ(::sched_getaffinity(0, sizeof cpus, &cpus), 0);
    EXPECT_EQ(CPU_COUNT(&cpus), 1);
    EXPECT_TRUE(CPU_ISSET(cpu, &cpus));
  });
}

TEST(thread_setup, a_cpu_that_is_not_there_is_told_of) {
  on_a_thread([] {
    const applied_setup made = apply({.cpu = 1'000'000});
    EXPECT_EQ(to_table(made.effects),
              "on CPU 1000000 alone  NO: Invalid argument; to allow it: a CPU that `taskset -p "
              "PID` shows; a container has those of its cpuset");
  });
}

TEST(thread_setup, timers_are_as_late_as_was_said) {
  on_a_thread([] {
    const applied_setup made = apply({.timer_slack = duration{1}});
    EXPECT_EQ(to_table(made.effects), "timers late by 1 ns at most  yes");
    EXPECT_EQ(::prctl(PR_GET_TIMERSLACK), 1);
  });
}

[[gnu::noinline]] std::size_t use_stack() {
  volatile std::byte room[200 * 1024];
  for (std::size_t at = 0; at < sizeof room; at += 4096) room[at] = std::byte{1};
  return sizeof room;
}

/// Of a new thread that uses its stack, after so much of it was touched.
std::int64_t faults_after(const thread_setup& wanted) {
  std::int64_t faults = 0;
  on_a_thread([&] {
    EXPECT_TRUE(apply(wanted).is_whole());
    const thread_usage before = thread_usage::read();
    use_stack();
    faults = (thread_usage::read() - before).minor_faults;
  });
  return faults;
}

TEST(thread_setup, touched_stack_is_there_when_it_is_used) {
  // A sanitizer has pages of its own for those of the stack.
  EXPECT_GE(faults_after({}) - faults_after({.stack_bytes = 256 * 1024}), 40);
}

TEST(thread_setup, more_stack_than_there_is_is_refused) {
  on_a_thread([] {
    const applied_setup made = apply({.stack_bytes = std::size_t{1} << 40U});
    EXPECT_FALSE(made.is_whole());
    EXPECT_TRUE(made.effects.front().remedy.contains("ulimit -s")) << to_table(made.effects);
  });
}

}  // namespace
}  // namespace weft::realtime
