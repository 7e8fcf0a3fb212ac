#include <weft/coro/semaphore.hpp>

#include <gtest/gtest.h>

#include <weft/coro/party_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft {
namespace {

using std::chrono::seconds;

class semaphore_test : public party_fixture {
 protected:
  static task<result<void>> acquire(semaphore& from, std::size_t count) {
    co_return co_await from.acquire(count);
  }

  semaphore permits_{3};
};

TEST_F(semaphore_test, gives_what_is_there_and_makes_wait_for_more) {
  party first{ready_, acquire(permits_, 2)};
  party second{ready_, acquire(permits_, 2)};
  ready_.run();
  EXPECT_EQ(first.how(), "done");
  EXPECT_EQ(second.how(), "waits");
  EXPECT_EQ(permits_.available(), 1U);
  permits_.release();
  EXPECT_EQ(second.how(), "waits") << "nobody is resumed from inside release()";
  EXPECT_EQ(permits_.available(), 0U);
  ready_.run();
  EXPECT_EQ(second.how(), "done");
}

TEST_F(semaphore_test, a_small_wish_stands_behind_a_large_one) {
  party large{ready_, acquire(permits_, 4)};
  party small{ready_, acquire(permits_, 1)};
  ready_.run();
  EXPECT_EQ(large.how(), "waits");
  EXPECT_EQ(small.how(), "waits");
  EXPECT_FALSE(permits_.try_acquire()) << "who tries does not pass who waits";
  permits_.release(2);
  ready_.run();
  EXPECT_EQ(large.how(), "done");
  EXPECT_EQ(small.how(), "done");
  EXPECT_EQ(permits_.available(), 0U);
}

TEST_F(semaphore_test, one_release_may_serve_many) {
  ASSERT_TRUE(permits_.try_acquire(3));
  party first{ready_, acquire(permits_, 1)};
  party second{ready_, acquire(permits_, 2)};
  party third{ready_, acquire(permits_, 1)};
  ready_.run();
  permits_.release(3);
  ready_.run();
  EXPECT_EQ(first.how(), "done");
  EXPECT_EQ(second.how(), "done");
  EXPECT_EQ(third.how(), "waits");
  permits_.release();
  ready_.run();
}

TEST_F(semaphore_test, when_a_large_wish_is_cancelled_the_small_ones_behind_it_are_served) {
  party large{ready_, acquire(permits_, 4)};
  party small{ready_, acquire(permits_, 1)};
  party next{ready_, acquire(permits_, 2)};
  ready_.run();
  large.stop();
  ready_.run();
  EXPECT_EQ(large.how(), "cancelled");
  EXPECT_EQ(small.how(), "done");
  EXPECT_EQ(next.how(), "done");
}

TEST_F(semaphore_test, when_a_large_wish_times_out_the_small_ones_behind_it_are_served) {
  party large{ready_, acquire(permits_, 4), in(seconds{1})};
  party small{ready_, acquire(permits_, 3)};
  ready_.run();
  pass(seconds{1});
  EXPECT_EQ(large.how(), "timed_out");
  EXPECT_EQ(small.how(), "done");
}

TEST_F(semaphore_test, a_cancelled_waiter_takes_no_permit_though_it_is_released_in_the_same_turn) {
  ASSERT_TRUE(permits_.try_acquire(3));
  party first{ready_, acquire(permits_, 1)};
  ready_.run();
  first.stop();
  permits_.release();
  ready_.run();
  EXPECT_EQ(first.how(), "cancelled");
  EXPECT_EQ(permits_.available(), 1U);
}

TEST_F(semaphore_test, who_was_given_a_permit_has_it_though_it_is_cancelled_before_it_runs) {
  ASSERT_TRUE(permits_.try_acquire(3));
  party first{ready_, acquire(permits_, 1), in(seconds{1})};
  ready_.run();
  permits_.release();
  first.stop();
  ready_.pass(seconds{1});
  ready_.run();
  EXPECT_EQ(first.how(), "done");
  EXPECT_EQ(permits_.available(), 0U);
}

TEST_F(semaphore_test, a_stopped_task_takes_nothing) {
  party stopped{ready_, acquire(permits_, 1)};
  stopped.stop();
  party late{ready_, acquire(permits_, 1), in(seconds{0})};
  ready_.run();
  EXPECT_EQ(stopped.how(), "cancelled");
  EXPECT_EQ(late.how(), "timed_out");
  EXPECT_EQ(permits_.available(), 3U);
}

TEST_F(semaphore_test, a_wish_for_nothing_is_granted) {
  semaphore none{0};
  party nothing{ready_, acquire(none, 0)};
  ready_.run();
  EXPECT_EQ(nothing.how(), "done");
}

TEST_F(semaphore_test, waiting_allocates_nothing) {
  party first{ready_, acquire(permits_, 4), in(seconds{1})};
  const testing::allocation_counter since;
  ready_.run();
  permits_.release();
  ready_.run();
  EXPECT_EQ(since.allocations(), 0U);
  EXPECT_EQ(first.how(), "done");
}

}  // namespace
}  // namespace weft
