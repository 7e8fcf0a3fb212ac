#include <weft/coro/deadline.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace weft {
namespace {

using std::chrono::nanoseconds;

constexpr time_point noon{std::chrono::hours{12}};

static_assert(std::is_trivially_copyable_v<deadline>);

TEST(deadline, passes_at_its_time_and_not_before) {
  constexpr deadline until = deadline::at(noon);
  EXPECT_FALSE(until.passed(noon - nanoseconds{1}));
  EXPECT_TRUE(until.passed(noon));
  EXPECT_TRUE(until.passed(noon + nanoseconds{1}));
  EXPECT_EQ(until.when(), noon);
  EXPECT_FALSE(until.is_never());
}

TEST(deadline, never_is_the_default_and_later_than_all) {
  EXPECT_TRUE(deadline{}.is_never());
  EXPECT_EQ(deadline{}, deadline::never());
  EXPECT_GT(deadline::never(), deadline::at(time_point::max() - nanoseconds{1}));
  EXPECT_FALSE(deadline::never().passed(noon));
  EXPECT_FALSE(deadline::never().passed(time_point::max() - nanoseconds{1}));
}

TEST(deadline, the_earlier_one_is_the_smaller) {
  EXPECT_LT(deadline::at(noon), deadline::at(noon + nanoseconds{1}));
  EXPECT_EQ(std::min(deadline::never(), deadline::at(noon)), deadline::at(noon));
}

}  // namespace
}  // namespace weft
