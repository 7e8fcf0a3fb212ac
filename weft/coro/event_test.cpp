#include <weft/coro/event.hpp>

#include <gtest/gtest.h>

#include <weft/coro/party_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft {
namespace {

using std::chrono::seconds;

class event_test : public party_fixture {
 protected:
  static task<result<void>> wait_for(event& awaited) { co_return co_await awaited.wait(); }

  event event_;
};
using event_death_test = event_test;

TEST_F(event_test, who_comes_after_it_does_not_wait) {
  event_.set();
  EXPECT_TRUE(event_.is_set());
  party late{ready_, wait_for(event_)};
  EXPECT_TRUE(ready_.step());
  EXPECT_EQ(late.how(), "done");
}

TEST_F(event_test, wakes_all_who_wait_from_the_ready_queue) {
  party first{ready_, wait_for(event_)};
  party second{ready_, wait_for(event_)};
  ready_.run();
  EXPECT_EQ(first.how(), "waits");
  event_.set();
  EXPECT_EQ(first.how(), "waits") << "nobody is resumed from inside set()";
  ready_.run();
  EXPECT_EQ(first.how(), "done");
  EXPECT_EQ(second.how(), "done");
}

TEST_F(event_test, who_was_woken_has_seen_it_though_it_is_reset) {
  party first{ready_, wait_for(event_)};
  ready_.run();
  event_.set();
  event_.reset();
  EXPECT_FALSE(event_.is_set());
  party second{ready_, wait_for(event_)};
  ready_.run();
  EXPECT_EQ(first.how(), "done");
  EXPECT_EQ(second.how(), "waits");
  second.stop();
  ready_.run();
}

TEST_F(event_test, a_stop_before_the_event_cancels_one_wait_only) {
  party first{ready_, wait_for(event_)};
  party second{ready_, wait_for(event_)};
  ready_.run();
  first.stop();
  EXPECT_EQ(first.how(), "waits") << "nobody is resumed from inside request_stop()";
  ready_.run();
  EXPECT_EQ(first.how(), "cancelled");
  event_.set();
  ready_.run();
  EXPECT_EQ(second.how(), "done");
}

TEST_F(event_test, in_one_turn_what_came_first_is_the_answer) {
  party set_first{ready_, wait_for(event_)};
  ready_.run();
  event_.set();
  set_first.stop();
  ready_.run();
  EXPECT_EQ(set_first.how(), "done");
  event_.reset();
  party stopped_first{ready_, wait_for(event_)};
  ready_.run();
  stopped_first.stop();
  event_.set();
  ready_.run();
  EXPECT_EQ(stopped_first.how(), "cancelled");
}

TEST_F(event_test, a_deadline_ends_the_wait) {
  party hasty{ready_, wait_for(event_), in(seconds{1})};
  party patient{ready_, wait_for(event_), in(seconds{2})};
  ready_.run();
  pass(seconds{1});
  EXPECT_EQ(hasty.how(), "timed_out");
  EXPECT_EQ(patient.how(), "waits");
  event_.set();
  ready_.pass(seconds{1});  // the deadline, after the event and before the task has run
  ready_.run();
  EXPECT_EQ(patient.how(), "done");
}

TEST_F(event_test, in_one_turn_a_deadline_before_the_event_is_the_answer) {
  party hasty{ready_, wait_for(event_), in(seconds{1})};
  ready_.run();
  ready_.pass(seconds{1});
  event_.set();
  ready_.run();
  EXPECT_EQ(hasty.how(), "timed_out");
}

TEST_F(event_test, what_is_over_before_it_begins_does_not_look_at_the_event) {
  event_.set();
  party stopped{ready_, wait_for(event_)};
  stopped.stop();
  party late{ready_, wait_for(event_), in(seconds{0})};
  ready_.run();
  EXPECT_EQ(stopped.how(), "cancelled");
  EXPECT_EQ(late.how(), "timed_out");
}

TEST_F(event_test, a_stop_counts_more_than_a_deadline) {
  party both{ready_, wait_for(event_), in(seconds{0})};
  both.stop();
  ready_.run();
  EXPECT_EQ(both.how(), "cancelled");
}

TEST_F(event_test, waiting_allocates_nothing) {
  party first{ready_, wait_for(event_), in(seconds{1})};
  const testing::allocation_counter since;
  ready_.run();
  event_.set();
  ready_.run();
  EXPECT_EQ(since.allocations(), 0U);
  EXPECT_EQ(first.how(), "done");
}

TEST_F(event_death_test, an_event_insists_that_nobody_waits_when_it_ends) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto leave_a_waiter = [this] {
    scope waiters{environment{.runs_on = &ready_}};
    event gone;
    waiters.spawn(
        [](event& awaited) -> task<void> { std::ignore = co_await awaited.wait(); }(gone));
    ready_.run();
  };
  EXPECT_DEATH(leave_a_waiter(), "outlive");
}

}  // namespace
}  // namespace weft
