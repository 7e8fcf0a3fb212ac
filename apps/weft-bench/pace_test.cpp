#include "pace.hpp"

#include <gtest/gtest.h>

namespace weft::bench {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

TEST(pace, a_closed_loop_has_no_times) {
  const pace closed{0};
  EXPECT_FALSE(closed.is_fixed());
  EXPECT_EQ(closed.next_due(), pace::never);
  EXPECT_EQ(closed.left(), 0U);
}

TEST(pace, requests_are_due_evenly_whenever_they_are_taken) {
  pace steady{4};
  steady.begin(10 * second, 11 * second);
  EXPECT_EQ(steady.left(), 4U);
  EXPECT_EQ(steady.take(), 10 * second);
  EXPECT_EQ(steady.next_due(), 10 * second + second / 4);
  EXPECT_EQ(steady.take(), 10 * second + second / 4);
  EXPECT_EQ(steady.take(), 10 * second + second / 2);
  EXPECT_EQ(steady.left(), 1U);
  EXPECT_EQ(steady.take(), 10 * second + 3 * second / 4);
  EXPECT_EQ(steady.next_due(), pace::never);
  EXPECT_EQ(steady.left(), 0U);
}

TEST(pace, errors_of_rounding_do_not_add_up) {
  pace thirds{3'000'000};  // 333.3 ns apart
  thirds.begin(0, 3600 * second);
  for (int i = 0; i < 3'000'000; ++i) thirds.take();
  EXPECT_EQ(thirds.next_due(), second);
}

}  // namespace
}  // namespace weft::bench
