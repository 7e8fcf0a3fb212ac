#include <weft/loop/kernel_clock.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace weft {
namespace {

using namespace std::chrono_literals;

TEST(kernel_clock_test, reads_the_steady_clock) {
  kernel_clock clock;
  const time_point before = std::chrono::steady_clock::now();
  const time_point read = clock.read();
  EXPECT_GE(read, before);
  EXPECT_LE(read, std::chrono::steady_clock::now());
}

TEST(kernel_clock_test, nothing_is_left_of_a_time_that_has_come) {
  kernel_clock clock;
  const time_point now = clock.read();
  EXPECT_EQ(clock.left_until(now), 0ns);
  EXPECT_EQ(clock.left_until(now - 1ns), 0ns);
  EXPECT_EQ(clock.left_until(time_point::min()), 0ns);
}

TEST(kernel_clock_test, what_came_during_the_turn_has_come) {
  kernel_clock clock;
  const time_point began = clock.read();
  std::this_thread::sleep_for(2ms);
  EXPECT_EQ(clock.left_until(began + 1ms), 0ns);
}

TEST(kernel_clock_test, a_near_time_is_counted_from_now) {
  kernel_clock clock;
  const time_point began = clock.read();
  std::this_thread::sleep_for(20ms);
  const duration left = clock.left_until(began + 2 * kernel_clock::reserve - 1ns);
  EXPECT_LE(left, 2 * kernel_clock::reserve - 20ms);
}

TEST(kernel_clock_test, a_far_time_is_counted_from_the_last_reading_less_the_reserve) {
  kernel_clock clock;
  const time_point began = clock.read();
  std::this_thread::sleep_for(1ms);
  EXPECT_EQ(clock.left_until(began + 60s), 60s - kernel_clock::reserve);
  EXPECT_EQ(clock.left_until(began + 2 * kernel_clock::reserve), kernel_clock::reserve);
}

}  // namespace
}  // namespace weft
