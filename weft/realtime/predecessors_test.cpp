// Who is named when others kept the loop: real work, on loops of the kernel's.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <tuple>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/loop_fixture_test.hpp>
#include <weft/realtime/periodic.hpp>

namespace weft::realtime {
namespace {

using std::chrono::milliseconds;

void keep_until(time_point when) {
  while (std::chrono::steady_clock::now() < when) {}
}

class predecessors_test : public on_any_backend {
 protected:
  using work = std::function<void(event_loop&, time_point until)>;

  /// Of a run that was due while the loop, woken from its wait before, did what `keeps` says until
  /// 35 ms later.
  deadline_miss miss_behind(const work& keeps) {
    deadline_miss miss;
    loop_->spawn([](event_loop& loop, const work& begin, deadline_miss& into) -> task<void> {
      periodic clock{loop, {.period = milliseconds{50}, .deadline = milliseconds{1}}};
      const auto first = co_await clock.next();
      clock.on_miss([&](const deadline_miss& told) {
        if (told.number == 1) into = told;
      });
      std::thread elsewhere{[&] {
        std::this_thread::sleep_until(first->due + milliseconds{20});
        EXPECT_TRUE(loop.post([&] { begin(loop, first->due + milliseconds{85}); }));
      }};
      std::ignore = co_await clock.next();
      std::ignore = co_await clock.next();
      elsewhere.join();
    }(*loop_, keeps, miss));
    loop_->run();
    return miss;
  }
};
INSTANTIATE_TEST_SUITE_P(backends, predecessors_test, kernel_backends, backend_name);

void expect_named(const deadline_miss& miss, const std::string& name) {
  EXPECT_EQ(miss.cause, miss_cause::long_predecessor) << describe(miss);
  EXPECT_TRUE(describe(miss).contains(": long predecessor, " + name + " (")) << describe(miss);
  EXPECT_EQ(miss.shares.wakeup, duration::zero()) << "nobody slept when it was due";
}

TEST_P(predecessors_test, mail_is_named) {
  expect_named(miss_behind([](event_loop&, time_point until) { keep_until(until); }),
               "mail of other shards");
}

struct slow_write : flushable {
  slow_write() : flushable{&on_flush} {}
  static void on_flush(flushable& self) noexcept {
    keep_until(static_cast<slow_write&>(self).until);
  }
  time_point until{};
};

TEST_P(predecessors_test, writes_are_named) {
  slow_write write;
  expect_named(miss_behind([&](event_loop& loop, time_point until) {
                 write.until = until;
                 loop.flush_later(write);
               }),
               "I/O of the loop");
}

struct slow_timer : timer {
  slow_timer() : timer{kind} {}
  static void on_timer(timer& self) noexcept { keep_until(static_cast<slow_timer&>(self).until); }
  static constexpr timer_kind kind{.on_expiry = &on_timer, .name = "a slow one", .owner = nullptr};
  time_point until{};
};

TEST_P(predecessors_test, timers_are_named) {
  slow_timer slow;
  expect_named(miss_behind([&](event_loop& loop, time_point until) {
                 slow.until = until;
                 loop.arm(slow, loop.now());
               }),
               "timers of the loop");
}

struct slow_callback : runnable {
  explicit slow_callback(duration length = {}) : runnable{&on_run}, lasts{length} {}
  static void on_run(runnable& self) noexcept {
    auto& callback = static_cast<slow_callback&>(self);
    keep_until(std::chrono::steady_clock::now() + callback.lasts);
  }
  duration lasts;
};

TEST_P(predecessors_test, callbacks_are_named) {
  slow_callback callback;
  expect_named(miss_behind([&](event_loop& loop, time_point until) {
                 callback.lasts = until - std::chrono::steady_clock::now();
                 loop.schedule(callback, priority::normal);
               }),
               "a callback of the loop");
}

TEST_P(predecessors_test, of_many_short_ones_none_is_named) {
  std::list<slow_callback> all;
  const deadline_miss miss = miss_behind([&](event_loop& loop, time_point) {
    for (int i = 0; i < 30; ++i)
      loop.schedule(all.emplace_back(milliseconds{2}), priority::critical);
  });
  EXPECT_EQ(miss.cause, miss_cause::many_predecessors) << describe(miss);
  EXPECT_GE(miss.before.count, 5U);
  EXPECT_LE(miss.before.count, 31U) << "and the release itself";
  EXPECT_TRUE(
      describe(miss).contains(": many predecessors, " + std::to_string(miss.before.count) + " of "))
      << describe(miss);
}

}  // namespace
}  // namespace weft::realtime
