#include <weft/loop/kernel_clock.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace weft {
namespace {

using namespace std::chrono_literals;

TEST(kernel_clock, reads_the_steady_clock) {
  const time_point before = std::chrono::steady_clock::now();
  const time_point read = kernel_clock::now();
  EXPECT_GE(read, before);
  EXPECT_LE(read, std::chrono::steady_clock::now());
}

TEST(kernel_clock, nothing_is_left_of_a_time_that_has_come) {
  const time_point now = kernel_clock::now();
  EXPECT_EQ(kernel_clock::left_until(now), 0ns);
  EXPECT_EQ(kernel_clock::left_until(now - 1ns), 0ns);
  EXPECT_EQ(kernel_clock::left_until(time_point::min()), 0ns);
}

TEST(kernel_clock, what_is_left_shrinks) {
  const time_point later = kernel_clock::now() + 1min;
  const duration left = kernel_clock::left_until(later);
  EXPECT_GT(left, 0ns);
  EXPECT_LE(kernel_clock::left_until(later), left);
}

}  // namespace
}  // namespace weft
