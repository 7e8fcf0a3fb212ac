#include <weft/coro/mutex.hpp>

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include <weft/coro/event.hpp>
#include <weft/coro/party_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft {
namespace {

using std::chrono::seconds;

static_assert(!std::is_copy_constructible_v<lock_guard>);
static_assert(std::is_nothrow_move_constructible_v<lock_guard>);

class mutex_test : public party_fixture {
 protected:
  /// Gives the guard to the test.
  static task<result<lock_guard>> lock(mutex& wanted) { co_return co_await wanted.lock(); }

  mutex mutex_;
};

TEST_F(mutex_test, is_had_by_one_at_a_time_in_order_of_asking) {
  std::vector<int> order;
  event go_on;
  const auto pass_through = [](mutex& door, event& until, std::vector<int>& into,
                               int who) -> task<result<void>> {
    const auto held = co_await door.lock();
    into.push_back(who);
    std::ignore = co_await until.wait();
    into.push_back(who);
    co_return result<void>{};
  };
  party first{ready_, pass_through(mutex_, go_on, order, 1)};
  party second{ready_, pass_through(mutex_, go_on, order, 2)};
  party third{ready_, pass_through(mutex_, go_on, order, 3)};
  ready_.run();
  EXPECT_EQ(order, std::vector{1});
  go_on.set();
  ready_.run();
  EXPECT_EQ(order, (std::vector{1, 1, 2, 2, 3, 3}));
  EXPECT_FALSE(mutex_.is_locked());
}

TEST_F(mutex_test, unlocking_hands_over_to_who_waits_and_not_to_who_tries) {
  auto held = mutex_.try_lock();
  ASSERT_TRUE(held);
  EXPECT_FALSE(mutex_.try_lock());
  party waiting{ready_, lock(mutex_)};
  ready_.run();
  EXPECT_EQ(waiting.how(), "waits");
  held->unlock();
  EXPECT_FALSE(mutex_.try_lock()) << "it is the waiting task's already";
  held->unlock();
  ready_.run();
  EXPECT_EQ(waiting.how(), "done");
  waiting.value().unlock();
  EXPECT_TRUE(mutex_.try_lock());
}

TEST_F(mutex_test, a_guard_moves_and_unlocks_once) {
  auto held = mutex_.try_lock();
  lock_guard moved = std::move(*held);
  held.reset();
  EXPECT_TRUE(mutex_.is_locked());
  mutex other;
  moved = *other.try_lock();
  EXPECT_FALSE(mutex_.is_locked());
  EXPECT_TRUE(other.is_locked());
  moved.unlock();
  EXPECT_FALSE(other.is_locked());
}

TEST_F(mutex_test, a_cancelled_waiter_is_passed_over) {
  auto held = mutex_.try_lock();
  party first{ready_, lock(mutex_)};
  party second{ready_, lock(mutex_)};
  ready_.run();
  first.stop();
  held.reset();  // in the same turn
  ready_.run();
  EXPECT_EQ(first.how(), "cancelled");
  EXPECT_EQ(second.how(), "done");
}

TEST_F(mutex_test, who_was_handed_it_has_it_though_it_is_cancelled_before_it_runs) {
  auto held = mutex_.try_lock();
  party first{ready_, lock(mutex_)};
  party second{ready_, lock(mutex_)};
  ready_.run();
  held.reset();
  first.stop();
  ready_.run();
  EXPECT_EQ(first.how(), "done");
  EXPECT_EQ(second.how(), "waits");
  first.value().unlock();
  ready_.run();
  EXPECT_EQ(second.how(), "done");
}

TEST_F(mutex_test, a_task_that_fails_unlocks_for_the_next) {
  const auto fail_inside = [](mutex& door) -> task<result<void>> {
    auto held = co_await door.lock();
    if (!held) co_return fail(held.error());
    co_return fail(errc::closed);
  };
  party first{ready_, fail_inside(mutex_)};
  party second{ready_, lock(mutex_)};
  ready_.run();
  EXPECT_EQ(first.how(), "closed");
  EXPECT_EQ(second.how(), "done");
}

TEST_F(mutex_test, a_deadline_ends_the_wait) {
  auto held = mutex_.try_lock();
  party hasty{ready_, lock(mutex_), in(seconds{1})};
  party patient{ready_, lock(mutex_), in(seconds{2})};
  ready_.run();
  pass(seconds{1});
  EXPECT_EQ(hasty.how(), "timed_out");
  held.reset();
  ready_.pass(seconds{1});
  ready_.run();
  EXPECT_EQ(patient.how(), "done") << "it was handed over before the deadline passed";
}

TEST_F(mutex_test, a_stopped_task_does_not_take_what_is_free) {
  party stopped{ready_, lock(mutex_)};
  stopped.stop();
  party late{ready_, lock(mutex_), in(seconds{0})};
  ready_.run();
  EXPECT_EQ(stopped.how(), "cancelled");
  EXPECT_EQ(late.how(), "timed_out");
  EXPECT_FALSE(mutex_.is_locked());
}

TEST_F(mutex_test, locking_allocates_nothing) {
  party first{ready_, lock(mutex_)};
  party second{ready_, lock(mutex_), in(seconds{1})};
  const testing::allocation_counter since;
  ready_.run();
  first.value().unlock();
  ready_.run();
  EXPECT_EQ(since.allocations(), 0U);
  EXPECT_EQ(second.how(), "done");
}

using mutex_death_test = mutex_test;

TEST_F(mutex_death_test, a_mutex_insists_that_nobody_holds_it_when_it_ends) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto leave_it_locked = [] {
    std::optional<lock_guard> held;
    mutex gone;
    held = gone.try_lock();
  };
  EXPECT_DEATH(leave_it_locked(), "outlives the guards");
}

}  // namespace
}  // namespace weft
