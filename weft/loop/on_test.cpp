#include <weft/loop/on.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/coro/scope.hpp>
#include <weft/loop/shards_fixture_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

class on_test : public on_shards {};
INSTANTIATE_TEST_SUITE_P(backends, on_test, threaded_backends, shards_backend_name);

unsigned here() { return event_loop::current().shard(); }

task<unsigned> here_in_a_task() {
  co_await yield{event_loop::current()};
  co_return here();
}

// What comes back.

TEST_P(on_test, runs_a_function_on_the_shard_that_is_named) {
  run(3, [](event_loop&) -> task<void> {
    for (unsigned shard = 0; shard < 3; ++shard)
      EXPECT_EQ(*co_await on(shard, [] { return here(); }), shard);
    EXPECT_EQ(here(), 0U);
  });
}

TEST_P(on_test, runs_a_coroutine_there_to_its_end) {
  run(3, [](event_loop&) -> task<void> {
    for (unsigned shard = 0; shard < 3; ++shard)
      EXPECT_EQ(*co_await on(shard, [] { return here_in_a_task(); }), shard);
    EXPECT_EQ(here(), 0U);
  });
}

TEST_P(on_test, a_task_there_belongs_to_the_trace_of_who_calls) {
  run(2, [](event_loop&) -> task<void> {
    static int request = 0;  // nobody looks behind the pointer
    environment own = co_await this_task::environment();
    own.trace = reinterpret_cast<const telemetry::trace_context*>(&request);
    co_await []() -> task<void> {
      for (unsigned shard = 0; shard < 2; ++shard) {
        const result<bool> is_same = co_await on(shard, []() -> task<bool> {
          const void* const trace = (co_await this_task::environment()).trace;
          co_return trace == &request;
        });
        EXPECT_TRUE(is_same.value()) << shard;
      }
    }()
                         .in(own);
  });
}

TEST_P(on_test, gives_results_and_nothing_as_they_are) {
  run(2, [](event_loop&) -> task<void> {
    for (unsigned shard = 0; shard < 2; ++shard) {
      const result<void> nothing = co_await on(shard, [] {});
      EXPECT_TRUE(nothing);
      const result<int> refused =
          co_await on(shard, []() -> result<int> { return fail(errc::refused); });
      EXPECT_EQ(refused.error(), errc::refused);
      const result<void> from_task =
          co_await on(shard, []() -> task<result<void>> { co_return fail(errc::not_found); });
      EXPECT_EQ(from_task.error(), errc::not_found);
      const result<void> done = co_await on(shard, []() -> task<void> { co_return; });
      EXPECT_TRUE(done);
      const auto moved = co_await on(shard, [] { return std::make_unique<int>(7); });
      EXPECT_EQ(**moved, 7);
    }
  });
}

TEST_P(on_test, rethrows_what_was_thrown_there) {
  run(2, [](event_loop&) -> task<void> {
    for (unsigned shard = 0; shard < 2; ++shard) {
      int caught = 0;
      try {
        static_cast<void>(co_await on(shard, []() -> int { throw std::runtime_error{"plain"}; }));
      } catch (const std::runtime_error& why) {
        caught += std::string{"plain"} == why.what() ? 1 : 0;
      }
      try {
        static_cast<void>(co_await on(shard, []() -> task<void> {
          co_await yield{event_loop::current()};
          throw std::runtime_error{"task"};
        }));
      } catch (const std::runtime_error& why) {
        caught += std::string{"task"} == why.what() ? 1 : 0;
      }
      EXPECT_EQ(caught, 2);
    }
  });
}

TEST_P(on_test, what_a_call_captures_is_made_and_destroyed_at_home) {
  struct local {
    explicit local(std::atomic<int>& count) : ended_at_home{&count} {}
    local(local&& other) noexcept : ended_at_home{std::exchange(other.ended_at_home, nullptr)} {}
    ~local() {
      if (ended_at_home != nullptr && here() == 0) ++*ended_at_home;
    }
    std::atomic<int>* ended_at_home;
  };
  std::atomic<int> ended_at_home{0};
  run(2, [&](event_loop&) -> task<void> {
    EXPECT_EQ(*co_await on(1, [held = local{ended_at_home}] { return here(); }), 1U);
    EXPECT_EQ(ended_at_home, 1);
  });
}

TEST_P(on_test, a_shard_may_be_called_from_a_call) {
  run(3, [](event_loop&) -> task<void> {
    const auto answer = co_await on(1, []() -> task<result<unsigned>> {
      co_return co_await on(2, []() -> task<result<unsigned>> {
        const auto back = co_await on(0, [] { return here() + 40; });
        co_return *back + here();
      });
    });
    EXPECT_EQ(*answer, 42U);
  });
}

// Stop requests and deadlines.

/// Waits on its shard until it is asked to stop, and then a little.
task<int> reluctant(std::atomic<bool>& begun) {
  begun = true;
  co_await until_stopped{event_loop::current()};
  for (int i = 0; i < 10; ++i) co_await yield{event_loop::current()};
  co_return 42;
}

TEST_P(on_test, a_stop_request_is_passed_on_and_the_answer_awaited) {
  std::atomic<bool> begun{false};
  run(2, [&begun](event_loop& loop) -> task<void> {
    scope calls{loop.root()};
    bool answered = false;
    calls.spawn([](std::atomic<bool>& flag, bool& done) -> task<void> {
      const auto answer = co_await on(1, [&flag] { return reluctant(flag); });
      EXPECT_EQ(*answer, 42) << "a success that raced the request";
      done = true;
    }(begun, answered));
    while (!begun) co_await yield{loop};
    calls.request_stop();
    EXPECT_FALSE(answered);
    co_await calls.join();
    EXPECT_TRUE(answered);
  });
}

TEST_P(on_test, a_call_that_was_to_stop_before_it_began_does_not_leave) {
  std::atomic<int> ran{0};
  run(2, [&ran](event_loop& loop) -> task<void> {
    scope calls{loop.root()};
    calls.request_stop();
    calls.spawn([](std::atomic<int>& count) -> task<void> {
      const auto answer = co_await on(1, [&count] { ++count; });
      EXPECT_EQ(answer.error(), errc::cancelled);
    }(ran));
    co_await calls.join();
  });
  EXPECT_EQ(ran, 0);
}

TEST_P(on_test, a_deadline_reaches_the_waits_over_there) {
  run(2, [](event_loop& loop) -> task<void> {
    environment soon{.until = deadline::at(loop.now() + 5ms), .runs_on = &loop};
    const auto answer = co_await on(1, []() -> task<result<void>> {
                          co_return co_await sleep_for(event_loop::current(), 1h);
                        }).in(soon);
    EXPECT_EQ(answer.error(), errc::timed_out);
    const environment past{.until = deadline::at(loop.now()), .runs_on = &loop};
    const auto never = co_await on(1, [] { return 1; }).in(past);
    EXPECT_EQ(never.error(), errc::timed_out);
  });
}

/// Keeps shard 1 from doing anything while it lives.
class occupied {
 public:
  explicit occupied(mesh& shards) {
    EXPECT_TRUE(shards.post(1, [this] {
      begun_.release();
      over_.acquire();
      left_.release();
    }));
    begun_.acquire();
  }
  void end() {
    over_.release();
    left_.acquire();
  }

 private:
  std::binary_semaphore begun_{0};
  std::binary_semaphore over_{0};
  std::binary_semaphore left_{0};
};

TEST_P(on_test, of_calls_that_are_to_stop_only_those_that_have_not_left_end_at_once) {
  std::atomic<int> ran{0};
  run({.shards = 2, .mesh = {.ring_capacity = 4}}, [&](event_loop& loop) -> task<void> {
    EXPECT_TRUE(co_await on(1, [] {}));  // the rings are there
    occupied other{*shards_};
    scope calls{loop.root()};
    int cancelled = 0;
    for (int i = 0; i < 10; ++i)
      calls.spawn([](std::atomic<int>& count, int& refused) -> task<void> {
        const auto answer = co_await on(1, [&count] { ++count; });
        if (!answer && answer.error() == errc::cancelled) ++refused;
      }(ran, cancelled));
    for (int i = 0; i < 5; ++i) co_await yield{loop};
    calls.request_stop();
    for (int i = 0; i < 5; ++i) co_await yield{loop};
    EXPECT_EQ(cancelled, 6);
    EXPECT_EQ(calls.active(), 4U) << "what has left is awaited";
    other.end();
    co_await calls.join();
    EXPECT_EQ(ran, 4);
    EXPECT_EQ(cancelled, 6);
  });
}

TEST_P(on_test, of_calls_whose_time_is_over_only_those_that_have_not_left_end_at_once) {
  std::atomic<int> ran{0};
  run({.shards = 2, .mesh = {.ring_capacity = 4}}, [&](event_loop& loop) -> task<void> {
    EXPECT_TRUE(co_await on(1, [] {}));
    occupied other{*shards_};
    const environment hurried{.until = deadline::at(loop.now() + 5ms), .runs_on = &loop};
    scope calls{hurried};
    int late = 0;
    for (int i = 0; i < 10; ++i)
      calls.spawn([](std::atomic<int>& count, int& refused) -> task<void> {
        const auto answer = co_await on(1, [&count] { ++count; });
        if (!answer && answer.error() == errc::timed_out) ++refused;
      }(ran, late));
    while (late < 6) EXPECT_TRUE(co_await sleep_for(loop, 1ms));
    EXPECT_EQ(calls.active(), 4U) << "what has left is awaited";
    other.end();
    co_await calls.join();
    EXPECT_EQ(ran, 4);
    EXPECT_EQ(late, 6);
  });
}

TEST_P(on_test, a_call_that_leaves_in_time_forgets_its_deadline) {
  run({.shards = 2, .mesh = {.ring_capacity = 2}}, [](event_loop& loop) -> task<void> {
    const environment patient{.until = deadline::at(loop.now() + std::chrono::hours{1}),
                              .runs_on = &loop};
    scope calls{patient};
    for (int i = 0; i < 50; ++i)
      calls.spawn([]() -> task<void> { EXPECT_TRUE(co_await on(1, [] {})); }());
    co_await calls.join();
    EXPECT_EQ(loop.timers().armed_count(), 0U);
  });
}

/// The answer and the stop request cross each other at every distance.
TEST_P(on_test, a_stop_request_may_meet_its_answer_anywhere) {
  run({.shards = 2, .mesh = {.ring_capacity = 2}}, [](event_loop& loop) -> task<void> {
    for (int distance = 0; distance < 200; ++distance) {
      scope calls{loop.root()};
      int answers = 0;
      for (int i = 0; i < 6; ++i)
        calls.spawn([](int yields, int& count) -> task<void> {
          const auto answer = co_await on(1, [yields]() -> task<int> {
            for (int left = yields; left > 0; --left) co_await yield{event_loop::current()};
            co_return 1;
          });
          count += answer || answer.error() == errc::cancelled ? 1 : 0;
        }(i, answers));
      for (int left = distance; left > 0; --left) co_await yield{loop};
      calls.request_stop();
      co_await calls.join();
      EXPECT_EQ(answers, 6);
    }
  });
}

// The end of a shard.

TEST_P(on_test, a_shard_that_has_ended_is_closed) {
  run(2, [this](event_loop& loop) -> task<void> {
    EXPECT_TRUE(co_await on(1, [] {}));
    shards_->request_stop(1);
    while (!shards_->has_ended(1)) EXPECT_TRUE(co_await sleep_for(loop, 1ms));
    EXPECT_EQ((co_await on(1, [] {})).error(), errc::closed);
    EXPECT_EQ(shards_->post(1, [] {}).error(), errc::closed);
  });
}

TEST_P(on_test, calls_that_a_shard_never_looked_at_are_closed) {
  run({.shards = 2, .mesh = {.ring_capacity = 4}}, [this](event_loop& loop) -> task<void> {
    EXPECT_TRUE(co_await on(1, [] {}));
    for (int round = 0; round < 1; ++round) {
      occupied other{*shards_};
      scope calls{loop.root()};
      int closed = 0;
      int ran = 0;
      for (int i = 0; i < 10; ++i)
        calls.spawn([](int& refused, int& answered) -> task<void> {
          const auto answer = co_await on(1, [] {});
          ++(answer ? answered : refused);
          if (!answer) EXPECT_EQ(answer.error(), errc::closed);
        }(closed, ran));
      for (int i = 0; i < 5; ++i) co_await yield{loop};
      shards_->request_stop(1);
      other.end();
      co_await calls.join();
      EXPECT_EQ(closed + ran, 10);
    }
  });
}

TEST_P(on_test, shards_may_end_in_the_middle_of_it_all) {
  for (int round = 0; round < 20; ++round)
    run({.shards = 3, .mesh = {.ring_capacity = 2}}, [&](event_loop& loop) -> task<void> {
      scope calls{loop.root()};
      int ended = 0;
      for (int i = 0; i < 30; ++i)
        calls.spawn([](int number, int& count) -> task<void> {
          const unsigned to = 1 + static_cast<unsigned>(number) % 2;
          const auto answer = co_await on(to, [number]() -> task<result<void>> {
            if (number % 3 == 0) co_return co_await on(2, [] {});
            co_return co_await sleep_for(event_loop::current(), 1ms);
          });
          if (!answer)
            EXPECT_TRUE(answer.error() == errc::closed || answer.error() == errc::cancelled)
                << answer.error().message();
          ++count;
        }(i, ended));
      for (int left = round; left > 0; --left) co_await yield{loop};
      shards_->request_stop(2);
      shards_->request_stop(1);
      co_await calls.join();
      EXPECT_EQ(ended, 30);
    });
}

// Many.

/// Every shard calls every other one, through rings that are always full.
TEST_P(on_test, four_shards_exchange_100000_messages_each_through_full_rings) {
  constexpr unsigned shards = 4;
  constexpr unsigned callers = 60;
  constexpr unsigned calls = 100'000 / callers;
  std::atomic<unsigned> running{shards};
  std::atomic<std::uint64_t> served{0};
  runtime_options options{.shards = shards, .pin = pinning::never};
  options.loop.backend = GetParam();
  options.mesh.ring_capacity = 4;
  runtime all{options};
  const auto caller = [&](unsigned number) -> task<void> {
    const unsigned to = (here() + 1 + number % (shards - 1)) % shards;
    for (unsigned i = 0; i < calls; ++i) {
      const auto answer = co_await on(to, [i, &served] {
        served.fetch_add(1, std::memory_order_relaxed);
        return i * 2;
      });
      EXPECT_TRUE(answer);
      if (answer) EXPECT_EQ(*answer, i * 2);
    }
  };
  const auto up = all.run([&](event_loop& loop) -> task<void> {
    scope own{loop.root()};
    for (unsigned i = 0; i < callers; ++i) own.spawn(caller(i));
    co_await own.join();
    if (--running == 0) all.request_stop();
  });
  EXPECT_TRUE(up);
  EXPECT_EQ(served, std::uint64_t{shards} * callers * calls);
}

/// One call at a time: both shards sleep between any two messages.
TEST_P(on_test, no_wake_up_is_lost_between_shards_that_sleep) {
  run(2, [](event_loop&) -> task<void> {
    for (int i = 0; i < 5'000; ++i) {
      const auto answer = co_await on(1, [i] { return i; });
      EXPECT_EQ(*answer, i);
    }
  });
}

TEST_P(on_test, no_wake_up_is_lost_between_spinning_and_sleeping) {
  runtime_options options{.shards = 2};
  options.loop.idle = {.spin_for = 5us};
  run(options, [](event_loop& loop) -> task<void> {
    for (int i = 0; i < 3'000; ++i) {
      EXPECT_EQ(*co_await on(1, [i] { return i; }), i);
      if (i % 16 == 0) EXPECT_TRUE(co_await sleep_for(loop, std::chrono::microseconds{i % 50}));
    }
  });
}

TEST_P(on_test, a_warm_call_of_a_function_allocates_nothing_on_either_side) {
  run(2, [](event_loop&) -> task<void> {
    const auto call = [](int i) { return on(1, [i] { return i + 1; }); };
    for (int i = 0; i < 100; ++i) EXPECT_EQ(*co_await call(i), i + 1);
    std::optional<testing::allocation_counter> there;
    EXPECT_TRUE(co_await on(1, [&there] { there.emplace(); }));
    const testing::allocation_counter here_counter;
    int sum = 0;
    for (int i = 0; i < 1'000; ++i) sum += *co_await call(0);
    // Under AddressSanitizer every frame is a heap block.
    if (WEFT_ADDRESS_SANITIZER == 0) EXPECT_EQ(here_counter.allocations(), 0U);
    const auto allocated = co_await on(1, [&there] { return there->allocations(); });
    EXPECT_EQ(*allocated, 0U);
    EXPECT_EQ(sum, 1'000);
  });
}

// Foreign threads.

TEST_P(on_test, a_full_mailbox_says_so_and_a_stop_request_still_arrives) {
  runtime_options options{.shards = 2};
  options.loop.letters_max = 3;
  run(options, [this](event_loop& loop) -> task<void> {
    std::atomic<int> ran{0};
    occupied other{*shards_};
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(shards_->post(1, [&ran] { ++ran; }));
    EXPECT_EQ(shards_->post(1, [&ran] { ++ran; }).error(), errc::limit_exceeded);
    shards_->request_stop(1);
    other.end();
    while (!shards_->has_ended(1)) EXPECT_TRUE(co_await sleep_for(loop, 1ms));
    EXPECT_EQ(ran, 3);
  });
}

#ifndef NDEBUG
using on_death_test = on_test;
INSTANTIATE_TEST_SUITE_P(backends, on_death_test, ::testing::Values(backend_kind::epoll),
                         shards_backend_name);

TEST_P(on_death_test, use_from_the_wrong_shard_ends_the_program_and_names_both) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run(3,
                   [](event_loop& loop) -> task<void> {
                     co_await on(2, [&loop] { loop.spawn([]() -> task<void> { co_return; }()); });
                   }),
               "spawn\\(\\) of shard 0 was called on shard 2");
}
#endif

}  // namespace
}  // namespace weft
