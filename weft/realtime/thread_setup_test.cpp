#include <weft/realtime/thread_setup.hpp>

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weft/base/sanitizers.hpp>
#include <weft/realtime/own_cpu_group_test.hpp>
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

/// Without what children are told of it.
int policy_here() { return ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK; }

TEST(thread_setup, says_of_a_policy_what_the_system_says) {
  on_a_thread([] {
    const applied_setup made = apply({.policy = scheduling::fifo, .priority = 7});
    ASSERT_EQ(made.effects.size(), 1U);
    EXPECT_EQ(made.effects.front().wish, "SCHED_FIFO, priority 7");
    EXPECT_EQ(made.is_whole(), policy_here() == SCHED_FIFO);
  });
}

TEST(thread_setup, threads_that_it_makes_go_before_nobody) {
  on_a_thread([] {
    const applied_setup made = apply({.policy = scheduling::fifo, .priority = 7});
    on_a_thread([] { EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER); });
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
    EXPECT_EQ(made.is_whole(), policy_here() == deadline_policy);
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

TEST(thread_setup, a_slack_that_the_kernel_takes_for_none_is_refused) {
  on_a_thread([] {
    const int before = ::prctl(PR_GET_TIMERSLACK);
    for (const duration slack : {duration{0}, duration{-1}}) {
      const applied_setup made = apply({.timer_slack = slack});
      EXPECT_TRUE(to_table(made.effects)
                      .ends_with(" ns at most  NO: Invalid argument; to allow it: 1 ns or more"))
          << to_table(made.effects);
      EXPECT_EQ(::prctl(PR_GET_TIMERSLACK), before);
    }
  });
}

/// The line of the only wish.
std::string line_of(const thread_setup& wanted) {
  std::string line;
  on_a_thread([&] { line = to_table(apply(wanted).effects); });
  return line;
}

TEST(thread_setup, what_makes_no_sense_is_not_a_matter_of_rights) {
  EXPECT_EQ(line_of({.policy = scheduling::fifo, .priority = 1000}),
            "SCHED_FIFO, priority 1000  NO: Invalid argument; to allow it: a priority from 1 to "
            "99");
  EXPECT_EQ(line_of({.policy = scheduling::deadline,
                     .budget = {.runtime = milliseconds{5},
                                .deadline = milliseconds{1},
                                .period = milliseconds{10}}}),
            "SCHED_DEADLINE, 5000 of 10000 us within 1000  NO: Invalid argument; to allow it: a "
            "runtime of 1024 ns or more, a deadline and a period, none longer than the next, and a "
            "period from kernel.sched_deadline_period_min_us to _max_us");
}

TEST(thread_setup, a_budget_is_told_to_the_nanosecond) {
  const std::string line = line_of({.policy = scheduling::deadline,
                                    .budget = {.runtime = std::chrono::nanoseconds{100},
                                               .deadline = std::chrono::nanoseconds{2500},
                                               .period = milliseconds{1}}});
  EXPECT_TRUE(line.starts_with("SCHED_DEADLINE, 0.1 of 1000 us within 2.5  NO: Invalid argument"))
      << line;
}

TEST(thread_setup, a_group_without_time_for_realtime_threads_is_named) {
  on_a_thread([] {
    const own_cpu_group group;
    if (!group.is_there()) GTEST_SKIP() << "no control group of version 1 can be made here";
    const applied_setup made = apply({.policy = scheduling::fifo});
    ASSERT_FALSE(made.is_whole());
    EXPECT_TRUE(made.effects.front().remedy.starts_with("more than 0 in " + group.folder() +
                                                        "/cpu.rt_runtime_us, and `setcap "))
        << to_table(made.effects);
  });
}

/// Faults are counted by pages of 4 KiB while it lives.
struct small_pages {
  small_pages() { ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }
  small_pages(const small_pages&) = delete;
  small_pages& operator=(const small_pages&) = delete;
  ~small_pages() { ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0); }
};

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
  const small_pages here;
  // A sanitizer has pages of its own for those of the stack.
  EXPECT_GE(faults_after({}) - faults_after({.stack_bytes = 256 * 1024}), 40);
}

/// In kilobytes.
std::size_t locked_memory() {
  std::ifstream facts{"/proc/self/status"};
  for (std::string word; facts >> word;)
    if (word == "VmLck:") {
      std::size_t found = 0;
      facts >> found;
      return found;
    }
  return 0;
}

TEST(thread_setup, memory_is_locked_where_it_may_be) {
  if (WEFT_SANITIZED != 0) GTEST_SKIP() << "sanitizers lock no memory, and say they do";
  on_a_thread([] {
    const applied_setup made = apply({.lock_memory = true});
    EXPECT_EQ(made.is_whole(), locked_memory() != 0) << to_table(made.effects);
    ::munlockall();
  });
}

/// Of this thread, which takes so much in such blocks, uses it and gives it back.
std::int64_t faults_of_heap(std::size_t bytes, std::size_t block_bytes) {
  const thread_usage before = thread_usage::read();
  std::vector<std::unique_ptr<void, decltype(&std::free)>> rooms;
  for (; bytes != 0; bytes -= block_bytes) {
    auto* const pages = static_cast<volatile std::byte*>(
        rooms.emplace_back(std::malloc(block_bytes), &std::free).get());
    for (std::size_t at = 0; at < block_bytes; at += 4096) pages[at] = std::byte{1};
  }
  return (thread_usage::read() - before).minor_faults;
}

constexpr std::size_t mebibyte = 1024 * 1024;

TEST(thread_setup, touched_heap_is_there_when_it_is_used) {
  if (WEFT_SANITIZED != 0) GTEST_SKIP() << "sanitizers have a heap of their own";
  const small_pages here;
  EXPECT_TRUE(apply({.heap_bytes = 4 * mebibyte}).is_whole());
  EXPECT_LE(faults_of_heap(2 * mebibyte, 2 * mebibyte), 40);
}

TEST(thread_setup, touched_heap_is_the_threads_own) {
  if (WEFT_SANITIZED != 0) GTEST_SKIP() << "sanitizers have a heap of their own";
  const small_pages here;
  on_a_thread([] {
    EXPECT_TRUE(apply({.heap_bytes = 4 * mebibyte}).is_whole());
    EXPECT_LE(faults_of_heap(3 * mebibyte, 3 * mebibyte), 40);
    EXPECT_LE(faults_of_heap(3 * mebibyte, 64 * 1024), 40) << "what is freed stays";
  });
}

TEST(thread_setup, touched_heap_may_be_more_than_a_part_of_an_arena) {
  if (WEFT_SANITIZED != 0) GTEST_SKIP() << "sanitizers have a heap of their own";
  const small_pages here;
  on_a_thread([] {
    EXPECT_TRUE(apply({.heap_bytes = 100 * mebibyte}).is_whole());
    EXPECT_LE(faults_of_heap(90 * mebibyte, mebibyte), 100);
  });
}

TEST(thread_setup, more_stack_than_there_is_is_refused) {
  on_a_thread([] {
    for (const std::size_t bytes : {std::size_t{1} << 40U, SIZE_MAX - 4096, SIZE_MAX}) {
      const applied_setup made = apply({.stack_bytes = bytes});
      EXPECT_FALSE(made.is_whole()) << bytes;
      EXPECT_TRUE(made.effects.front().remedy.contains("ulimit -s")) << to_table(made.effects);
    }
  });
}

}  // namespace
}  // namespace weft::realtime
