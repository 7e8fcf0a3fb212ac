#include <weft/http/http2/rate_bound.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace weft::http::http2 {
namespace {

TEST(http2_rate_bound, allows_so_many_a_second_and_ten_seconds_worth_at_once) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  constexpr time_point start{seconds{100}};
  rate_bound bound{2};
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(bound.take(start));
  EXPECT_FALSE(bound.take(start));
  EXPECT_FALSE(bound.take(start + milliseconds{300}));
  EXPECT_TRUE(bound.take(start + milliseconds{600}));
  EXPECT_FALSE(bound.take(start + milliseconds{600}));
  bound.give(1);
  EXPECT_TRUE(bound.take(start + milliseconds{600}));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(bound.take(start + seconds{60}));
  EXPECT_FALSE(bound.take(start + seconds{60}));
}

}  // namespace
}  // namespace weft::http::http2
