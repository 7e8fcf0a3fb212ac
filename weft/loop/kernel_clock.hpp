// The clock of a loop that sleeps in the kernel.
//
// Problem: to read it costs as much as a whole queue of the loop, and it was read twice a turn:
// when the turn began, and to say how long to sleep. Contract: a time that is far off is counted
// from the last reading, less a reserve for the turn since then; whoever slept for so long looks
// again. What is near is counted from a new reading. No sleep is too long unless the turn took
// longer than the reserve. One thread.
//
//   kernel_clock clock;
//   const time_point turn_began = clock.read();
//   ::epoll_pwait2(..., clock.left_until(next_timer));
#pragma once

#include <ctime>

#include <algorithm>

#include <weft/base/time.hpp>

namespace weft {

class kernel_clock {
 public:
  /// Kept back from a long sleep; what is less than twice as far off is near.
  static constexpr duration reserve = std::chrono::seconds{1};

  [[nodiscard]] time_point read() noexcept {
    timespec now{};  // this clock is always there: std::chrono::steady_clock is the same
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    last_ = time_point{std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec}};
    return last_;
  }

  /// How long to sleep for; zero if `when` is not after the last reading.
  [[nodiscard]] duration left_until(time_point when) noexcept {
    if (when <= last_) return duration::zero();
    const duration left = when - last_;
    if (left >= 2 * reserve) [[likely]]
      return left - reserve;
    return std::max(when - read(), duration::zero());
  }

 private:
  time_point last_ = read();
};

}  // namespace weft
