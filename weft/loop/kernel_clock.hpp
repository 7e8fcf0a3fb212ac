// The clock of a loop that sleeps in the kernel.
//
// Contract: the time of std::chrono::steady_clock, read where it is asked for: libc++'s own reading
// is a call that makes two. Any thread.
//
//   const time_point turn_began = kernel_clock::now();
//   ::epoll_pwait2(..., kernel_clock::left_until(next_timer));
#pragma once

#include <ctime>

#include <algorithm>

#include <weft/base/time.hpp>

namespace weft::kernel_clock {

[[nodiscard]] inline time_point now() noexcept {
  timespec read{};  // this clock is always there
  ::clock_gettime(CLOCK_MONOTONIC, &read);
  return time_point{std::chrono::seconds{read.tv_sec} + std::chrono::nanoseconds{read.tv_nsec}};
}

/// Zero if `when` has come; time_point::min() always has, without a look at the clock.
[[nodiscard]] inline duration left_until(time_point when) noexcept {
  if (when == time_point::min()) return duration::zero();
  return std::max(when - now(), duration::zero());
}

}  // namespace weft::kernel_clock
