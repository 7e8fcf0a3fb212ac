#include <weft/coro/shielded.hpp>

#include <gtest/gtest.h>

#include <weft/coro/event.hpp>
#include <weft/coro/party_test.hpp>

namespace weft {
namespace {

using std::chrono::seconds;

class shielded_test : public party_fixture {
 protected:
  static task<result<void>> wait_for(event& awaited) { co_return co_await awaited.wait(); }

  event event_;
};

TEST_F(shielded_test, a_stop_request_does_not_reach_the_work_but_is_there_afterwards) {
  const auto outer = [](event& awaited) -> task<result<void>> {
    EXPECT_TRUE(co_await shielded(wait_for(awaited)));
    co_return co_await awaited.wait();
  };
  party waiting{ready_, outer(event_)};
  ready_.run();
  waiting.stop();
  ready_.run();
  EXPECT_EQ(waiting.how(), "waits");
  event_.set();
  ready_.run();
  EXPECT_EQ(waiting.how(), "cancelled") << "as the wait after the shield says";
}

TEST_F(shielded_test, one_who_was_stopped_before_can_still_wait) {
  party stopped{ready_, shielded(wait_for(event_))};
  stopped.stop();
  ready_.run();
  EXPECT_EQ(stopped.how(), "waits");
  event_.set();
  ready_.run();
  EXPECT_EQ(stopped.how(), "done");
}

TEST_F(shielded_test, the_callers_deadline_ends_it) {
  party waiting{ready_, shielded(wait_for(event_)), in(seconds{1})};
  ready_.run();
  pass(seconds{1});
  EXPECT_EQ(waiting.how(), "timed_out");
}

TEST_F(shielded_test, a_deadline_of_its_own_may_be_later_than_the_callers) {
  party extended{ready_, shielded(wait_for(event_), in(seconds{2})), in(seconds{1})};
  party endless{ready_, shielded(wait_for(event_), deadline::never()), in(seconds{1})};
  ready_.run();
  pass(seconds{1});
  EXPECT_EQ(extended.how(), "waits");
  pass(seconds{1});
  EXPECT_EQ(extended.how(), "timed_out");
  EXPECT_EQ(endless.how(), "waits");
  event_.set();
  ready_.run();
  EXPECT_EQ(endless.how(), "done");
}

}  // namespace
}  // namespace weft
