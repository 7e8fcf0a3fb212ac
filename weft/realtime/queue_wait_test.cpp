#include <weft/realtime/queue_wait.hpp>

#include <gtest/gtest.h>

#include <sched.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <tuple>

#include <weft/coro/task.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/realtime/periodic.hpp>
#include <weft/realtime/thread_setup.hpp>

namespace weft::realtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void use_processor(duration processor) {
  const duration before = thread_usage::read_processor();
  while (thread_usage::read_processor() - before < processor) {}
}

/// From now on this thread, and those that it makes, have one CPU among them.
void stay_on_one_cpu() {
  cpu_set_t cpus;
  EXPECT_EQ(::sched_getaffinity(0, sizeof cpus, &cpus), 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &cpus)) ++cpu;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  EXPECT_EQ(::sched_setaffinity(0, sizeof cpus, &cpus), 0);
}

/// Wants the processor for as long as it lives.
class rival {
 public:
  rival() = default;
  rival(const rival&) = delete;
  rival& operator=(const rival&) = delete;
  ~rival() {
    done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> done_ = false;
  std::thread thread_{[this] {
    while (!done_) {}
  }};
};

bool is_counted_here() { return queue_wait{}.so_far().has_value(); }

#define SKIP_WHERE_NOTHING_IS_COUNTED() \
  if (!is_counted_here()) GTEST_SKIP() << "this kernel counts no waits (CONFIG_SCHED_INFO)"

TEST(queue_wait, grows_while_another_has_the_processor) {
  SKIP_WHERE_NOTHING_IS_COUNTED();
  std::thread{[] {
    stay_on_one_cpu();
    const rival other;
    const queue_wait waits;
    const duration before = *waits.so_far();
    const time_point start = std::chrono::steady_clock::now();
    while (*waits.so_far() - before < milliseconds{20}) use_processor(milliseconds{1});
    EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds{20});
  }}.join();
}

TEST(queue_wait, is_of_the_thread_that_made_it) {
  SKIP_WHERE_NOTHING_IS_COUNTED();
  const queue_wait mine;
  std::optional<queue_wait> others;
  std::thread{[&] {
    others.emplace();
    stay_on_one_cpu();
    const rival other;
    const duration before = *others->so_far();
    while (*others->so_far() - before < milliseconds{20}) use_processor(milliseconds{1});
  }}.join();
  EXPECT_FALSE(others->so_far()) << "that thread has ended";
  EXPECT_TRUE(mine.so_far());
}

/// Of a run that does so.
deadline_miss miss_of(void (*run)(), scheduling policy = scheduling::other) {
  deadline_miss miss;
  std::thread{[&] {
    auto loop = event_loop::create({.backend = backend_kind::epoll});
    ASSERT_TRUE(loop);
    stay_on_one_cpu();
    if (policy == scheduling::fifo)
      ASSERT_TRUE(apply({.policy = scheduling::fifo, .priority = 1}).is_whole());
    (*loop)->spawn([](event_loop& on, void (*work)(), deadline_miss& into) -> task<void> {
      periodic clock{on, {.period = seconds{10}, .deadline = milliseconds{1}}};
      clock.on_miss([&](const deadline_miss& told) { into = told; });
      std::ignore = co_await clock.next();
      work();
      on.request_stop();
      std::ignore = co_await clock.next();
    }(**loop, run, miss));
    (*loop)->run();
  }}.join();
  return miss;
}

/// Now and then somebody else keeps this CPU for longer than the sleep is.
TEST(queue_wait, who_has_slept_was_blocked_however_often_it_was_preempted) {
  SKIP_WHERE_NOTHING_IS_COUNTED();
  deadline_miss miss;
  for (int i = 0; i < 20 && (miss.cause != miss_cause::blocked || miss.used.preemptions == 0); ++i)
    miss = miss_of([] {
      const rival other;
      use_processor(milliseconds{8});
      std::this_thread::sleep_for(milliseconds{300});
    });
  EXPECT_EQ(miss.cause, miss_cause::blocked) << describe(miss);
  EXPECT_GE(miss.used.preemptions, 1) << describe(miss);
}

bool fifo_is_permitted() {
  bool is_permitted = false;
  std::thread{[&] {
    is_permitted = apply({.policy = scheduling::fifo, .priority = 2}).is_whole();
  }}.join();
  return is_permitted;
}

/// Sleeps for a moment, in which one that goes before it begins to work for long.
void sleep_beside_a_thread_of_a_higher_priority() {
  std::promise<time_point> begins;
  std::thread other{[&] {
    EXPECT_TRUE(apply({.policy = scheduling::fifo, .priority = 2}).is_whole());
    const time_point when = std::chrono::steady_clock::now() + milliseconds{5};
    begins.set_value(when);
    std::this_thread::sleep_until(when);
    use_processor(milliseconds{60});
  }};
  std::this_thread::sleep_until(begins.get_future().get() + milliseconds{1});
  other.join();
}

TEST(queue_wait, who_was_not_let_on_was_preempted_though_it_had_given_its_processor_up) {
  SKIP_WHERE_NOTHING_IS_COUNTED();
  if (!fifo_is_permitted())
    GTEST_SKIP() << "SCHED_FIFO is not permitted here: `setcap cap_sys_nice+ep` would allow it";
  const deadline_miss miss = miss_of(&sleep_beside_a_thread_of_a_higher_priority, scheduling::fifo);
  EXPECT_EQ(miss.cause, miss_cause::preempted) << describe(miss);
  EXPECT_GE(miss.used.waits, 1) << describe(miss);
}

}  // namespace
}  // namespace weft::realtime
