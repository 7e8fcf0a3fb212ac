#include <weft/coro/manual_scheduler.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace weft {
namespace {

using std::chrono::seconds;

struct noting_timer : timer {
  noting_timer(std::vector<int>& into, int what) : timer{noting}, order{into}, number{what} {}
  static void on_timer(timer& self) noexcept {
    auto& fired = static_cast<noting_timer&>(self);
    fired.order.push_back(fired.number);
  }
  static constexpr timer_kind noting{.on_expiry = &on_timer, .name = "note"};
  std::vector<int>& order;
  int number;
};

class manual_scheduler_test : public ::testing::Test {
 protected:
  void arm(timer& t, seconds after) { ready_.arm(t, ready_.now() + after); }

  manual_scheduler ready_;
  std::vector<int> order_;
  noting_timer first_{order_, 1};
  noting_timer second_{order_, 2};
  noting_timer third_{order_, 3};
};

TEST_F(manual_scheduler_test, fires_in_order_of_time_then_of_arming) {
  arm(third_, seconds{2});
  arm(first_, seconds{1});
  arm(second_, seconds{1});
  ready_.pass(seconds{1} - duration{1});
  EXPECT_TRUE(order_.empty());
  ready_.pass(duration{1});
  EXPECT_EQ(order_, (std::vector{1, 2}));
  ready_.pass(seconds{5});
  EXPECT_EQ(order_, (std::vector{1, 2, 3}));
  EXPECT_FALSE(ready_.has_timers());
  EXPECT_EQ(ready_.now(), time_point{seconds{6}});
}

TEST_F(manual_scheduler_test, a_disarmed_timer_does_not_fire_and_can_be_armed_again) {
  arm(first_, seconds{1});
  EXPECT_TRUE(first_.armed());
  ready_.disarm(first_);
  EXPECT_FALSE(first_.armed());
  ready_.disarm(first_);
  ready_.pass(seconds{2});
  EXPECT_TRUE(order_.empty());
  arm(first_, seconds{1});
  ready_.pass(seconds{1});
  EXPECT_EQ(order_, std::vector{1});
}

}  // namespace
}  // namespace weft
