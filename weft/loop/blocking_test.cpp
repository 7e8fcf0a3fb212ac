#include <weft/loop/blocking.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <set>
#include <stdexcept>
#include <thread>

#include <weft/coro/scope.hpp>
#include <weft/loop/loop_fixture_test.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

class blocking_test : public on_any_backend {};
INSTANTIATE_TEST_SUITE_P(backends, blocking_test, every_backend, backend_name);

class blocking_threads_test : public on_any_backend {
 protected:
  void SetUp() override {}
  void open_with(unsigned threads, std::size_t queue_max) {
    open({.backend = GetParam(), .blocking_threads = threads, .blocking_queue_max = queue_max});
  }
};
INSTANTIATE_TEST_SUITE_P(backends, blocking_threads_test, kernel_backends, backend_name);

TEST_P(blocking_test, gives_what_the_function_gives) {
  loop_->spawn([](event_loop& loop) -> task<void> {
    const std::thread::id here = std::this_thread::get_id();
    const auto there = co_await blocking([] { return std::this_thread::get_id(); });
    EXPECT_EQ(*there == here, !loop.has_threads());
    EXPECT_EQ(std::this_thread::get_id(), here) << "and comes back";
    EXPECT_TRUE(co_await blocking([] {}));
    const auto refused = co_await blocking([]() -> result<int> { return fail(errc::refused); });
    EXPECT_EQ(refused.error(), errc::refused);
    const auto moved = co_await blocking([] { return std::make_unique<int>(7); });
    EXPECT_EQ(**moved, 7);
  }(*loop_));
  loop_->run();
}

TEST_P(blocking_threads_test, run_at_a_lower_priority_than_the_loop) {
  open_with(1, 1);
  loop_->spawn([]() -> task<void> {
    const auto priority = [] { return ::getpriority(PRIO_PROCESS, 0); };
    const auto there = co_await blocking(priority);
    EXPECT_EQ(*there, std::min(priority() + 10, 19));
  }());
  loop_->run();
}

TEST_P(blocking_test, rethrows_what_was_thrown_there) {
  bool caught = false;
  loop_->spawn([](bool& seen) -> task<void> {
    try {
      static_cast<void>(co_await blocking([]() -> int { throw std::runtime_error{"there"}; }));
    } catch (const std::runtime_error&) {
      seen = true;
    }
  }(caught));
  loop_->run();
  EXPECT_TRUE(caught);
}

TEST_P(blocking_test, does_not_begin_when_it_was_to_stop_before) {
  bool ran = false;
  loop_->spawn([](event_loop& loop, bool& flag) -> task<void> {
    scope calls{loop.root()};
    calls.request_stop();
    calls.spawn([](bool& set) -> task<void> {
      EXPECT_EQ((co_await blocking([&set] { set = true; })).error(), errc::cancelled);
    }(flag));
    co_await calls.join();
    const environment past{.until = deadline::at(loop.now()), .runs_on = &loop};
    const auto late = co_await blocking([&flag] { flag = true; }).in(past);
    EXPECT_EQ(late.error(), errc::timed_out);
  }(*loop_, ran));
  loop_->run();
  EXPECT_FALSE(ran);
}

TEST_P(blocking_threads_test, runs_as_many_at_once_as_it_has_threads) {
  open_with(3, 100);
  if (IsSkipped()) return;
  std::counting_semaphore<> meeting{0};
  std::atomic<int> there{0};
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for (int i = 0; i < 12; ++i)
    loop_->spawn([](auto& met, auto& count, auto& lock, auto& seen) -> task<void> {
      EXPECT_TRUE(co_await blocking([&] {
        // Goes on only when three are here at once.
        if (++count % 3 == 0) met.release(3);
        EXPECT_TRUE(met.try_acquire_for(60s));
        const std::lock_guard held{lock};
        seen.insert(std::this_thread::get_id());
      }));
    }(meeting, there, mutex, threads));
  loop_->run();
  EXPECT_EQ(threads.size(), 3U);
}

/// A call that keeps the only thread until it is told, and others behind it.
TEST_P(blocking_threads_test, who_still_waits_can_be_stopped_and_who_runs_is_awaited) {
  open_with(1, 3);
  if (IsSkipped()) return;
  std::binary_semaphore begun{0};
  std::binary_semaphore over{0};
  int cancelled = 0;
  int ran = 0;
  loop_->spawn(
      [](event_loop& loop, auto& started, auto& ends, int& refused, int& done) -> task<void> {
        scope calls{loop.root()};
        calls.spawn([](auto& at, auto& until, int& count) -> task<void> {
          const auto answer = co_await blocking([&] {
            at.release();
            until.acquire();
            return 42;
          });
          EXPECT_EQ(*answer, 42) << "a success that raced the request";
          ++count;
        }(started, ends, done));
        co_await yield{loop};
        started.acquire();
        for (int i = 0; i < 3; ++i)
          calls.spawn([](int& count, int& wrong) -> task<void> {
            const auto answer = co_await blocking([&wrong] { ++wrong; });
            count += answer.error() == errc::cancelled ? 1 : 0;
          }(refused, done));
        co_await yield{loop};
        const auto one_more = co_await blocking([] {});
        EXPECT_EQ(one_more.error(), errc::limit_exceeded);
        calls.request_stop();
        co_await yield{loop};
        co_await yield{loop};
        EXPECT_EQ(refused, 3);
        EXPECT_EQ(calls.active(), 1U);
        ends.release();
        co_await calls.join();
      }(*loop_, begun, over, cancelled, ran));
  loop_->run();
  EXPECT_EQ(cancelled, 3);
  EXPECT_EQ(ran, 1);
}

TEST_P(blocking_threads_test, a_deadline_ends_the_wait_for_a_thread) {
  open_with(1, 3);
  if (IsSkipped()) return;
  std::binary_semaphore over{0};
  loop_->spawn([](event_loop& loop, auto& ends) -> task<void> {
    scope calls{loop.root()};
    calls.spawn([](auto& until) -> task<void> {
      EXPECT_TRUE(co_await blocking([&] { until.acquire(); }));
    }(ends));
    co_await yield{loop};
    const environment soon{.until = deadline::at(loop.now() + 5ms), .runs_on = &loop};
    const auto late = co_await blocking([] {}).in(soon);
    EXPECT_EQ(late.error(), errc::timed_out);
    ends.release();
    co_await calls.join();
  }(*loop_, over));
  loop_->run();
}

TEST_P(blocking_threads_test, many_calls_and_stop_requests_come_out_even) {
  open_with(4, 64);
  if (IsSkipped()) return;
  int ended = 0;
  std::atomic<int> ran{0};
  for (int round = 0; round < 40; ++round)
    loop_->spawn([](event_loop& loop, int delay, int& count, std::atomic<int>& done) -> task<void> {
      scope calls{loop.root()};
      int answers = 0;
      for (int i = 0; i < 20; ++i)
        calls.spawn([](int& all, int& given, std::atomic<int>& there) -> task<void> {
          const auto answer = co_await blocking([&there] { ++there; });
          given += answer ? 1 : 0;
          ++all;
        }(count, answers, done));
      for (int left = delay; left > 0; --left) co_await yield{loop};
      calls.request_stop();
      co_await calls.join();
      done -= answers;
    }(*loop_, round % 7, ended, ran));
  loop_->run();
  EXPECT_EQ(ended, 800);
  EXPECT_EQ(ran, 0) << "what ran is what was answered";
}

}  // namespace
}  // namespace weft
