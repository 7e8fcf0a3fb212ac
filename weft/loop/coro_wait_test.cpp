#include <gtest/gtest.h>

#include <chrono>

#include <weft/coro/event.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/loop_fixture_test.hpp>

namespace weft {
namespace {

using std::chrono::milliseconds;

// Waits between tasks know only a scheduler; this is what the loop gives them.

class coro_wait_test : public on_any_backend {
 protected:
  static task<result<void>> wait_for(event& awaited) { co_return co_await awaited.wait(); }

  event event_;
};
INSTANTIATE_TEST_SUITE_P(backends, coro_wait_test, every_backend, backend_name);

TEST_P(coro_wait_test, a_deadline_passes_by_the_loops_clock) {
  loop_->spawn([](event_loop& loop, event& awaited) -> task<void> {
    const time_point before = loop.now();
    const auto waited = co_await with_timeout(milliseconds{3}, wait_for(awaited));
    EXPECT_EQ(waited.error(), errc::timed_out);
    EXPECT_GE(loop.now(), before + milliseconds{3});
  }(*loop_, event_));
  loop_->run();
}

TEST_P(coro_wait_test, an_answer_leaves_no_timer_behind) {
  loop_->spawn([](event& awaited) -> task<void> {
    EXPECT_TRUE(co_await with_timeout(std::chrono::hours{1}, wait_for(awaited)));
  }(event_));
  settle();
  EXPECT_EQ(loop_->timers().armed_count(), 1U);
  event_.set();
  EXPECT_EQ(loop_->timers().armed_count(), 0U);
  loop_->run();
}

}  // namespace
}  // namespace weft
