#include <weft/loop/lazy_timer.hpp>

#include <gtest/gtest.h>

#include <weft/loop/make_backend.hpp>
#include <weft/loop/sleep.hpp>

namespace weft {
namespace {

using std::chrono::milliseconds;

struct counted_timer : lazy_timer {
  explicit counted_timer(event_loop& loop) : lazy_timer{loop, counting} {}
  static void expired(lazy_timer& self) noexcept { ++static_cast<counted_timer&>(self).fired; }
  static constexpr kind counting{&expired, "count"};
  int fired = 0;
};

class lazy_timer_test : public ::testing::Test {
 protected:
  void run(task<void> script) {
    loop_->spawn(std::move(script));
    loop_->run();
  }
  std::unique_ptr<event_loop> loop_ =
      std::move(*event_loop::create({.backend = backend_kind::simulated}));
  counted_timer timer_{*loop_};
};

TEST_F(lazy_timer_test, fires_once_at_its_deadline) {
  run([](event_loop& loop, counted_timer& timer) -> task<void> {
    timer.set(loop.now() + milliseconds{10});
    std::ignore = co_await sleep_for(loop, milliseconds{9});
    EXPECT_EQ(timer.fired, 0);
    std::ignore = co_await sleep_for(loop, milliseconds{3});
    EXPECT_EQ(timer.fired, 1);
    std::ignore = co_await sleep_for(loop, milliseconds{100});
    EXPECT_EQ(timer.fired, 1);
  }(*loop_, timer_));
}

TEST_F(lazy_timer_test, a_deadline_moved_away_is_kept) {
  run([](event_loop& loop, counted_timer& timer) -> task<void> {
    timer.set(loop.now() + milliseconds{10});
    for (int i = 0; i < 5; ++i) {
      std::ignore = co_await sleep_for(loop, milliseconds{6});
      timer.set(loop.now() + milliseconds{10});
    }
    EXPECT_EQ(timer.fired, 0);
    std::ignore = co_await sleep_for(loop, milliseconds{12});
    EXPECT_EQ(timer.fired, 1);
  }(*loop_, timer_));
}

TEST_F(lazy_timer_test, a_deadline_moved_nearer_is_heeded) {
  run([](event_loop& loop, counted_timer& timer) -> task<void> {
    timer.set(loop.now() + milliseconds{1000});
    timer.set(loop.now() + milliseconds{10});
    std::ignore = co_await sleep_for(loop, milliseconds{12});
    EXPECT_EQ(timer.fired, 1);
  }(*loop_, timer_));
}

TEST_F(lazy_timer_test, never_is_never_and_can_be_followed_by_a_time) {
  run([](event_loop& loop, counted_timer& timer) -> task<void> {
    timer.set(loop.now() + milliseconds{10});
    timer.set(time_point::max());
    std::ignore = co_await sleep_for(loop, milliseconds{50});
    EXPECT_EQ(timer.fired, 0);
    timer.set(loop.now() + milliseconds{10});
    std::ignore = co_await sleep_for(loop, milliseconds{12});
    EXPECT_EQ(timer.fired, 1);
  }(*loop_, timer_));
}

TEST_F(lazy_timer_test, moving_away_does_not_touch_the_wheel) {
  timer_.set(loop_->now() + milliseconds{10});
  const time_point due = loop_->timers().next_due();
  timer_.set(loop_->now() + milliseconds{500});
  EXPECT_EQ(loop_->timers().next_due(), due);
}

}  // namespace
}  // namespace weft
