#include <weft/loop/event_loop.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

#include <weft/loop/loop_fixture_test.hpp>

namespace weft {
namespace {

using std::chrono::seconds;

class event_loop_test : public on_any_backend {};
INSTANTIATE_TEST_SUITE_P(backends, event_loop_test, every_backend, backend_name);
class event_loop_kernel_test : public on_any_backend {};
INSTANTIATE_TEST_SUITE_P(backends, event_loop_kernel_test, kernel_backends, backend_name);
using event_loop_budget_test = in_memory;
using event_loop_death_test = in_memory;

task<void> note(std::vector<int>& order, int what) {
  order.push_back(what);
  co_return;
}

// Life.

TEST_P(event_loop_test, is_the_current_loop_of_its_thread) {
  EXPECT_EQ(&event_loop::current(), loop_.get());
}

TEST_P(event_loop_test, without_tasks_run_returns_at_once) {
  loop_->run();
  EXPECT_EQ(loop_->turns(), 0U);
}

TEST_P(event_loop_test, runs_tasks_by_band_and_then_in_order) {
  loop_.reset();
  open({.backend = GetParam(), .shuffle_seed = 0});
  std::vector<int> order;
  loop_->spawn(note(order, 2));
  loop_->spawn(note(order, 3));
  loop_->spawn(note(order, 4), priority::idle);
  loop_->spawn(note(order, 1), priority::critical);
  EXPECT_TRUE(order.empty());
  loop_->run();
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
}

TEST_P(event_loop_test, a_turn_runs_no_more_once_much_has_been_produced) {
  loop_.reset();
  open({.backend = GetParam(), .produced_bytes_per_turn = 1'000, .shuffle_seed = 0});
  std::vector<std::uint64_t> turns;
  const auto produce = [](event_loop& loop, std::vector<std::uint64_t>& into,
                          std::size_t bytes) -> task<void> {
    into.push_back(loop.turns());
    loop.note_produced(bytes);
    co_return;
  };
  for (const std::size_t bytes : {400U, 400U, 400U, 1U, 5'000U, 1U, 999U, 1U})
    loop_->spawn(produce(*loop_, turns, bytes));
  loop_->run();
  ASSERT_EQ(turns.size(), 8U);
  const std::uint64_t first = turns.front();
  for (std::uint64_t& each : turns) each -= first;
  EXPECT_EQ(turns, (std::vector<std::uint64_t>{0, 0, 0, 1, 1, 2, 2, 3}));
}

TEST_P(event_loop_test, who_gives_way_goes_after_what_becomes_ready_meanwhile) {
  loop_.reset();
  open({.backend = GetParam(), .shuffle_seed = 0});
  std::vector<int> order;
  loop_->spawn([](event_loop& loop, std::vector<int>& into) -> task<void> {
    co_await yield{loop};
    into.push_back(1);
  }(*loop_, order));
  loop_->spawn([](event_loop& loop, std::vector<int>& into) -> task<void> {
    loop.spawn(note(into, 3));
    into.push_back(2);
    co_return;
  }(*loop_, order));
  loop_->run();
  EXPECT_EQ(order, (std::vector{2, 3, 1}));
}

TEST_P(event_loop_test, who_gives_way_has_a_turn_however_busy_the_others_are) {
  loop_.reset();
  open({.backend = GetParam(), .resumptions_per_turn = 8});
  int left = 20;
  loop_->spawn([](event_loop& loop, int& rounds) -> task<void> {
    for (; rounds > 0; --rounds) co_await yield{loop};
  }(*loop_, left));
  // Each begins the next before it ends, so that there is always one that is more urgent.
  struct endless {
    static task<void> work(event_loop& loop, const int& others) {
      if (others > 0) loop.spawn(work(loop, others));
      co_return;
    }
  };
  loop_->spawn(endless::work(*loop_, left));
  for (int turn = 0; turn < 1'000 && left > 0; ++turn) loop_->run_once(time_point::min());
  EXPECT_EQ(left, 0);
  left = 0;
  loop_->run();
}

TEST_P(event_loop_test, runs_again_after_it_has_finished) {
  std::vector<int> order;
  loop_->spawn(note(order, 1));
  loop_->run();
  loop_->spawn(note(order, 2));
  loop_->run();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST_P(event_loop_test, request_stop_reaches_every_task_and_what_inherits_the_root) {
  int stopped = 0;
  const auto wait = [](event_loop& loop, int& count) -> task<void> {
    co_await until_stopped{loop};
    ++count;
  };
  const auto own_scope = [](event_loop& loop, auto body, int& count) -> task<void> {
    scope own{loop.root()};
    own.spawn(body(loop, count));
    co_await own.join();
  };
  loop_->spawn(wait(*loop_, stopped));
  loop_->spawn(own_scope(*loop_, wait, stopped));
  settle();
  EXPECT_EQ(stopped, 0);
  loop_->request_stop();
  for (int turn = 0; turn < 100 && stopped < 2; ++turn) loop_->run_once(time_point::min());
  ASSERT_EQ(stopped, 2);
  loop_->run();
}

TEST_P(event_loop_test, an_exception_that_leaves_a_task_leaves_run) {
  bool sibling_stopped = false;
  loop_->spawn([](event_loop& loop, bool& flag) -> task<void> {
    co_await until_stopped{loop};
    flag = true;
  }(*loop_, sibling_stopped));
  loop_->spawn([]() -> task<void> {
    throw std::runtime_error{"a bug"};
    co_return;
  }());
  EXPECT_THROW(loop_->run(), std::runtime_error);
  EXPECT_TRUE(sibling_stopped);
}

TEST_P(event_loop_test, time_does_not_pass_within_a_turn_and_is_fresh_when_run_begins) {
  const time_point before =
      GetParam() == backend_kind::simulated ? loop_->now() : std::chrono::steady_clock::now();
  loop_->spawn([](event_loop& loop, time_point started) -> task<void> {
    const time_point here = loop.now();
    EXPECT_GE(here, started) << "the time of an earlier turn";
    EXPECT_EQ(loop.now(), here);
    co_return;
  }(*loop_, before));
  loop_->run();
}

// The turn.

struct noting_timer : timer {
  noting_timer(std::vector<int>& o, int n) : timer{firing}, order{o}, number{n} {}
  static void fire(timer& self) noexcept {
    auto& here = static_cast<noting_timer&>(self);
    here.order.push_back(here.number);
  }
  static constexpr timer_kind firing{.on_expiry = &fire, .name = "note"};
  std::vector<int>& order;
  int number;
};

struct noting_flush : flushable {
  noting_flush(std::vector<int>& o, int n) : flushable{&on_flush}, order{o}, number{n} {}
  static void on_flush(flushable& self) noexcept {
    auto& here = static_cast<noting_flush&>(self);
    here.order.push_back(here.number);
    if (here.again > 0) {
      --here.again;
      event_loop::current().flush_later(here);
    }
  }
  std::vector<int>& order;
  int number;
  int again = 0;
};

TEST_P(event_loop_test, a_turn_goes_mailbox_ready_timers_flush) {
  std::vector<int> order;
  noting_timer due{order, 3};
  noting_flush dirty{order, 4};
  loop_->flush_later(dirty);
  loop_->flush_later(dirty);
  loop_->timers().arm(due, loop_->now());
  loop_->spawn(note(order, 2));
  loop_->post([&] { order.push_back(1); });
  loop_->run_once(time_point::min());
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
  EXPECT_EQ(loop_->turns(), 1U);
  loop_->run_once(time_point::min());
  EXPECT_EQ(order.size(), 4U);
}

TEST_P(event_loop_test, what_is_filled_while_flushing_waits_for_the_next_turn) {
  std::vector<int> order;
  noting_flush dirty{order, 1};
  dirty.again = 2;
  loop_->flush_later(dirty);
  loop_->run_once(time_point::min());
  EXPECT_EQ(order.size(), 1U);
  // Bytes wait, so that the loop must not.
  loop_->run_once(time_point::max());
  EXPECT_EQ(order.size(), 2U);
  loop_->run_once(time_point::min());
  EXPECT_EQ(order.size(), 3U);
  loop_->run_once(time_point::min());
  EXPECT_EQ(order.size(), 3U);
}

TEST_P(event_loop_test, every_step_of_a_turn_is_bounded) {
  loop_.reset();
  open({.backend = GetParam(),
        .messages_per_turn = 2,
        .resumptions_per_turn = 3,
        .timers_per_turn = 4});
  std::vector<int> letters;
  std::vector<int> tasks;
  std::vector<int> fired;
  std::deque<noting_timer> timers;
  for (int i = 0; i < 10; ++i) {
    loop_->post([&] { letters.push_back(1); });
    loop_->spawn(note(tasks, 1));
    loop_->timers().arm(timers.emplace_back(fired, 1), loop_->now());
  }
  loop_->run_once(time_point::max());
  EXPECT_EQ(letters.size(), 2U);
  EXPECT_EQ(tasks.size(), 3U);
  EXPECT_EQ(fired.size(), 4U);
  for (int turn = 0; turn < 4; ++turn) loop_->run_once(time_point::min());
  EXPECT_EQ(letters.size(), 10U);
  EXPECT_EQ(tasks.size(), 10U);
  EXPECT_EQ(fired.size(), 10U);
}

TEST_P(event_loop_test, yield_lets_others_have_their_turn) {
  std::vector<int> order;
  const auto twice = [](event_loop& loop, std::vector<int>& into, int what) -> task<void> {
    into.push_back(what);
    co_await yield{loop};
    into.push_back(what);
  };
  loop_->spawn(twice(*loop_, order, 1));
  loop_->spawn(twice(*loop_, order, 2));
  loop_->run();
  ASSERT_EQ(order.size(), 4U);
  EXPECT_NE(order[0], order[1]);
  EXPECT_EQ(order[2], order[0]);
  EXPECT_EQ(order[3], order[1]);
}

TEST_F(event_loop_budget_test, a_task_with_answers_at_once_has_a_budget) {
  loop_.reset();
  open({.backend = backend_kind::simulated, .answers_per_resumption = 10, .shuffle_seed = 0});
  int answers = 0;
  std::vector<int> seen;
  // The memory backend refuses descriptors at once, which is an answer like any other.
  loop_->spawn([](event_loop& loop, int& count) -> task<void> {
    for (; count < 100; ++count) EXPECT_EQ((co_await readable(loop, 0)).error(), errc::unsupported);
  }(*loop_, answers));
  loop_->spawn([](event_loop& loop, const int& count, std::vector<int>& into) -> task<void> {
    while (count < 100) {
      into.push_back(count);
      co_await yield{loop};
    }
  }(*loop_, answers, seen));
  loop_->run();
  ASSERT_GE(seen.size(), 9U);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(seen[i], 9 + static_cast<int>(i) * 10);
}

// Posting.

TEST_P(event_loop_test, a_letter_from_the_loops_own_thread_runs_in_the_next_turn) {
  bool told = false;
  loop_->spawn([](event_loop& loop, bool& flag) -> task<void> {
    loop.post([&] { flag = true; });
    while (!flag) co_await yield{loop};
  }(*loop_, told));
  loop_->run();
  EXPECT_TRUE(told);
}

TEST_P(event_loop_kernel_test, a_letter_from_another_thread_wakes_a_sleeping_loop) {
  loop_->spawn([](event_loop& loop) -> task<void> { co_await until_stopped{loop}; }(*loop_));
  constexpr int rounds = 500;
  std::thread friendly{[&loop = *loop_] {
    std::binary_semaphore answered{0};
    for (int i = 0; i < rounds; ++i) {
      loop.post([&] { answered.release(); });
      EXPECT_TRUE(answered.try_acquire_for(seconds{60})) << "asleep in round " << i;
    }
    loop.post_stop();
  }};
  loop_->run();
  friendly.join();
  EXPECT_LT(loop_->turns(), 10U * rounds) << "it slept in between";
}

TEST_P(event_loop_kernel_test, letters_of_many_threads_all_arrive) {
  loop_->spawn([](event_loop& loop) -> task<void> { co_await until_stopped{loop}; }(*loop_));
  constexpr int writers = 3;
  constexpr int letters = 2'000;
  int received = 0;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer)
    threads.emplace_back([&loop = *loop_, &received] {
      for (int i = 0; i < letters; ++i)
        loop.post([&] {
          if (++received == writers * letters) loop.request_stop();
        });
    });
  loop_->run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(received, writers * letters);
}

TEST_F(event_loop_death_test, a_thread_has_one_loop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(std::ignore = event_loop::create({.backend = backend_kind::simulated}),
               "one event loop at a time");
  loop_.reset();
  EXPECT_DEATH(std::ignore = event_loop::current(), "no event loop");
}

}  // namespace
}  // namespace weft
