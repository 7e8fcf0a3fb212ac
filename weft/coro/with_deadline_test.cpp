#include <weft/coro/with_deadline.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include <weft/coro/event.hpp>
#include <weft/coro/party_test.hpp>

namespace weft {
namespace {

using std::chrono::seconds;

class with_deadline_test : public party_fixture {
 protected:
  static task<result<void>> wait_for(event& awaited) { co_return co_await awaited.wait(); }
  static task<result<deadline>> look() { co_return (co_await this_task::environment()).until; }

  event event_;
};

TEST_F(with_deadline_test, ends_the_waits_inside_and_not_those_after) {
  const auto twice = [](event& awaited, deadline until) -> task<result<void>> {
    const auto first = co_await with_deadline(until, wait_for(awaited));
    EXPECT_EQ(first.error(), errc::timed_out);
    co_return co_await awaited.wait();
  };
  party waiting{ready_, twice(event_, in(seconds{1}))};
  ready_.run();
  pass(seconds{5});
  EXPECT_EQ(waiting.how(), "waits") << "the second wait has no deadline";
  event_.set();
  ready_.run();
  EXPECT_EQ(waiting.how(), "done");
}

TEST_F(with_deadline_test, the_earlier_deadline_counts) {
  party inner{ready_, with_deadline(in(seconds{1}), look()), in(seconds{2})};
  party outer{ready_, with_deadline(in(seconds{3}), look()), in(seconds{2})};
  party none{ready_, with_deadline(deadline::never(), look()), in(seconds{2})};
  ready_.run();
  EXPECT_EQ(inner.value(), in(seconds{1}));
  EXPECT_EQ(outer.value(), in(seconds{2}));
  EXPECT_EQ(none.value(), in(seconds{2}));
}

TEST_F(with_deadline_test, a_timeout_counts_from_when_it_is_awaited) {
  auto work = with_timeout(seconds{1}, look());
  pass(seconds{5});
  party late{ready_, std::move(work)};
  ready_.run();
  EXPECT_EQ(late.value(), in(seconds{1}));
}

TEST_F(with_deadline_test, a_timeout_keeps_an_earlier_deadline_and_may_be_endless) {
  party outer{ready_, with_timeout(seconds{3}, look()), in(seconds{2})};
  party endless{ready_, with_timeout(duration::max(), look())};
  ready_.run();
  EXPECT_EQ(outer.value(), in(seconds{2}));
  EXPECT_TRUE(endless.value().is_never());
}

TEST_F(with_deadline_test, the_stop_request_goes_through) {
  party stopped{ready_, with_timeout(seconds{1}, wait_for(event_))};
  ready_.run();
  stopped.stop();
  ready_.run();
  EXPECT_EQ(stopped.how(), "cancelled");
}

TEST_F(with_deadline_test, gives_what_the_work_gives) {
  const auto outer = []() -> task<result<void>> {
    auto made = co_await with_timeout(
        seconds{1}, []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); }());
    EXPECT_EQ(*made, 7);
    co_await with_timeout(seconds{1}, []() -> task<void> { co_return; }());
    try {
      co_await with_deadline(deadline::never(), []() -> task<void> {
        throw std::runtime_error{"inner"};
        co_return;
      }());
    } catch (const std::runtime_error&) {
      co_return result<void>{};
    }
    co_return fail(errc::invalid_argument);
  };
  party caller{ready_, outer()};
  ready_.run();
  EXPECT_EQ(caller.how(), "done");
}

TEST_F(with_deadline_test, narrows_again_inside) {
  const auto nested = [](deadline inner) -> task<result<deadline>> {
    co_return co_await with_deadline(inner, look());
  };
  party both{ready_, with_deadline(in(seconds{3}), nested(in(seconds{2})))};
  ready_.run();
  EXPECT_EQ(both.value(), in(seconds{2}));
}

}  // namespace
}  // namespace weft
