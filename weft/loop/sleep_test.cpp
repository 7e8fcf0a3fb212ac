#include <weft/loop/sleep.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include <weft/loop/loop_fixture_test.hpp>

namespace weft {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class sleep_test : public on_any_backend {};
INSTANTIATE_TEST_SUITE_P(backends, sleep_test, every_backend, backend_name);
using sleep_time_test = in_memory;

TEST_P(sleep_test, sleeps_no_shorter_than_asked) {
  loop_->spawn([](event_loop& loop) -> task<void> {
    const time_point before = loop.now();
    EXPECT_TRUE(co_await sleep_for(loop, milliseconds{2}));
    EXPECT_GE(loop.now(), before + milliseconds{2});
  }(*loop_));
  loop_->run();
}

TEST_F(sleep_time_test, sleeps_exactly_and_wakes_in_order_of_time) {
  std::vector<int> order;
  const auto sleeper = [](event_loop& loop, duration length, std::vector<int>& into,
                          int what) -> task<void> {
    const time_point before = loop.now();
    EXPECT_TRUE(co_await sleep_for(loop, length));
    EXPECT_EQ(loop.now(), before + length);
    into.push_back(what);
  };
  loop_->spawn(sleeper(*loop_, hours{24}, order, 4));
  loop_->spawn(sleeper(*loop_, milliseconds{5}, order, 2));
  loop_->spawn(sleeper(*loop_, milliseconds{6}, order, 3));
  loop_->spawn(sleeper(*loop_, milliseconds{1}, order, 1));
  loop_->run();
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
}

TEST_F(sleep_time_test, a_sleep_of_nothing_or_less_ends_in_the_next_turn) {
  const time_point before = loop_->now();
  loop_->spawn([](event_loop& loop) -> task<void> {
    EXPECT_TRUE(co_await sleep_for(loop, duration::zero()));
    EXPECT_TRUE(co_await sleep_for(loop, -hours{1}));
    EXPECT_TRUE(co_await sleep_until(loop, time_point{}));
  }(*loop_));
  loop_->run();
  EXPECT_EQ(loop_->now(), before);
}

/// Sleeps in an environment with a deadline, if one is given, and in a scope of its own.
task<void> sleep_in(event_loop& loop, stop_token stop, deadline until, time_point when,
                    outcome& into) {
  const environment narrowed{.stop = stop, .until = until, .runs_on = &loop};
  into = co_await [](event_loop& inner, time_point at)
      -> task<result<void>> { co_return co_await sleep_until(inner, at); }(loop, when).in(narrowed);
}

TEST_F(sleep_time_test, the_deadline_ends_a_sleep_only_if_it_comes_first) {
  const time_point start = loop_->now();
  outcome longer;
  outcome shorter;
  outcome equal;
  outcome over;
  const auto soon = deadline::at(start + milliseconds{10});
  loop_->spawn(sleep_in(*loop_, {}, soon, start + seconds{1}, longer));
  loop_->spawn(sleep_in(*loop_, {}, soon, start + milliseconds{9}, shorter));
  loop_->spawn(sleep_in(*loop_, {}, soon, soon.when(), equal));
  loop_->spawn(sleep_in(*loop_, {}, deadline::at(start - seconds{1}), start + seconds{1}, over));
  loop_->run();
  EXPECT_EQ(longer->error(), errc::timed_out);
  EXPECT_TRUE(shorter->has_value());
  EXPECT_TRUE(equal->has_value());
  EXPECT_EQ(over->error(), errc::timed_out);
  EXPECT_EQ(loop_->now(), start + milliseconds{10}) << "nobody waited for the long sleep";
}

TEST_F(sleep_time_test, a_stop_ends_a_sleep_before_and_while_it_sleeps) {
  const time_point start = loop_->now();
  stop_source stop;
  outcome asleep;
  outcome late;
  loop_->spawn(sleep_in(*loop_, stop.token(), {}, start + hours{1}, asleep));
  loop_->spawn([](event_loop& loop, stop_source& source, outcome& into) -> task<void> {
    EXPECT_TRUE(co_await sleep_for(loop, milliseconds{10}));
    source.request_stop();
    co_await sleep_in(loop, source.token(), {}, loop.now() + hours{1}, into);
  }(*loop_, stop, late));
  loop_->run();
  EXPECT_EQ(asleep->error(), errc::cancelled);
  EXPECT_EQ(late->error(), errc::cancelled);
  EXPECT_EQ(loop_->now(), start + milliseconds{10});
}

/// The sleep's time and the stop come together; what came first decides.
TEST_F(sleep_time_test, a_sleep_that_ended_before_the_stop_has_slept) {
  loop_.reset();
  open({.backend = backend_kind::simulated, .shuffle_seed = 0});
  const time_point when = loop_->now() + milliseconds{10};
  stop_source stop;
  outcome stops_late;
  outcome stops_early;
  const auto stop_at = [](event_loop& loop, time_point at, stop_source& source) -> task<void> {
    EXPECT_TRUE(co_await sleep_until(loop, at));
    source.request_stop();
  };
  // Both timers fire in one turn, and then the stopper is resumed first: the sleeper is ready.
  loop_->spawn(stop_at(*loop_, when, stop));
  loop_->spawn(sleep_in(*loop_, stop.token(), {}, when, stops_late));
  loop_->run();
  EXPECT_TRUE(stops_late->has_value());

  // Now the stopper is resumed before the sleeper's timer, due at the same time, has fired.
  loop_.reset();
  open({.backend = backend_kind::simulated, .timers_per_turn = 1, .shuffle_seed = 0});
  stop_source other;
  const time_point again = loop_->now() + milliseconds{10};
  loop_->spawn(stop_at(*loop_, again, other));
  loop_->spawn(sleep_in(*loop_, other.token(), {}, again, stops_early));
  loop_->run();
  EXPECT_EQ(stops_early->error(), errc::cancelled);
}

TEST_F(sleep_time_test, a_sleep_for_ever_ends_by_the_stop) {
  stop_source stop;
  outcome forever;
  outcome ages;
  loop_->spawn(sleep_in(*loop_, stop.token(), {}, time_point::max(), forever));
  loop_->spawn(sleep_in(*loop_, stop.token(), {}, loop_->now() + hours{24 * 365 * 50}, ages));
  loop_->spawn([](event_loop& loop, stop_source& source) -> task<void> {
    EXPECT_TRUE(co_await sleep_for(loop, hours{24 * 365 * 20}));
    source.request_stop();
  }(*loop_, stop));
  loop_->run();
  EXPECT_EQ(forever->error(), errc::cancelled);
  EXPECT_EQ(ages->error(), errc::cancelled);
}

using sleep_death_test = in_memory;

TEST_F(sleep_death_test, waiting_for_nothing_is_a_deadlock) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        loop_->spawn([](event_loop& loop) -> task<void> {
          std::ignore = co_await sleep_until(loop, time_point::max());
        }(*loop_));
        loop_->run();
      },
      "deadlock");
}

}  // namespace
}  // namespace weft
