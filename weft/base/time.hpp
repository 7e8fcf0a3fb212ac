// Time for every floor: which clock, which resolution, spelled once.
//
// Contract: `time_point` is monotonic and counts nanoseconds; it is read from the loop
// (`loop.now()`), where it is cached once a turn, so that a simulated loop can own it. `duration`
// is std::chrono's own: write `5s`, `100ms`.
//
//   weft::time_point give_up_at = loop.now() + std::chrono::seconds{5};
#pragma once

// <mutex> must declare durations and clocks, and costs half of what <chrono> does: that one drags
// in calendars, time zones and formatting, which no header of ours needs. Write `#include <chrono>`
// for the literals.
#include <mutex>

namespace weft {

using duration = std::chrono::nanoseconds;
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

/// `more` after `start`, which is not negative; at most time_point::max(), which is never.
[[nodiscard]] constexpr time_point saturated_sum(time_point start, duration more) noexcept {
  return more < time_point::max() - start ? start + more : time_point::max();
}

}  // namespace weft
