// How long a body may be in coming.
//
// Problem: a timeout between two pieces alone lets a client hold a connection for hours, a byte at
// a time. Contract: the next piece is due body_idle_timeout after the last, and no later than the
// average since the wait began allows: what has come at body_bytes_per_second, after a grace of one
// body_idle_timeout. Time in which nobody waits for it is not the client's. Pure arithmetic.
//
//   const body_pace pace{loop.now(), bounds};
//   timer.set(pace.due(loop.now(), received_bytes));
#pragma once

#include <algorithm>
#include <cstdint>

#include <weft/base/time.hpp>
#include <weft/http/limits.hpp>

namespace weft::http {

class body_pace {
 public:
  /// Counts from `began`, when the body is first waited for. `bounds` outlives it.
  body_pace(time_point began, const limits& bounds) noexcept : began_{began}, bounds_{bounds} {}

  /// For so long the client could not send, since nobody took what it had sent.
  void forgive(duration away) noexcept { began_ += away; }

  /// When more must have come, `received_bytes` of the body on the wire being here `now`.
  [[nodiscard]] time_point due(time_point now, std::uint64_t received_bytes) const noexcept {
    const time_point piece = now + bounds_.body_idle_timeout;
    const std::uint64_t rate = bounds_.body_bytes_per_second;
    if (rate == 0) return piece;
    // Who has earned more time than has gone by is ahead; only else can the sum not overflow.
    const std::uint64_t earned = received_bytes / rate;
    const auto gone = std::chrono::duration_cast<std::chrono::seconds>(now - began_);
    if (earned > static_cast<std::uint64_t>(gone.count())) return piece;
    const duration rest{received_bytes % rate * 1'000'000'000 / rate};
    return std::min(piece,
                    began_ + bounds_.body_idle_timeout + std::chrono::seconds{earned} + rest);
  }

 private:
  time_point began_;
  const limits& bounds_;
};

}  // namespace weft::http
