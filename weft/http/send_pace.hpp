// How slowly a client may take a reply.
//
// Problem: a client that takes a byte now and then is never idle, and keeps the memory of its reply
// for hours. Contract: while a reply waits for its client, the client is looked at once in each
// write_stall_timeout of that waiting, whatever the waits are that it is made of; between two looks
// it must have taken reply_bytes_per_second on average. The first look comes early and only notes
// where the client stands, so that nothing is asked of the kernel for clients that are never slow.
// What was taken fast does not count for later. Time in which nobody waits for the client is not
// counted. Pure arithmetic.
//
//   send_pace pace;
//   wait(pace.until_look(bounds));
//   if (!pace.look(delivered_bytes, bounds)) cut();
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <weft/base/time.hpp>
#include <weft/http/limits.hpp>

namespace weft::http {

/// What must be taken within `time` at `bytes_per_second`: at least one byte.
[[nodiscard]] constexpr std::size_t least_taken(duration time,
                                                std::uint32_t bytes_per_second) noexcept {
  const double wanted = static_cast<double>(time.count()) * 1e-9 * bytes_per_second;
  constexpr double most = 1e18;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::min(wanted, most)));
}

[[nodiscard]] constexpr std::size_t least_taken(const limits& bounds) noexcept {
  return least_taken(bounds.write_stall_timeout, bounds.reply_bytes_per_second);
}

/// How soon a client is looked at for the first time.
[[nodiscard]] constexpr duration first_look(const limits& bounds) noexcept {
  return bounds.write_stall_timeout / 8;
}

class send_pace {
 public:
  /// How much longer the client may be waited for before look().
  [[nodiscard]] duration until_look(const limits& bounds) const noexcept {
    return (seen_ ? bounds.write_stall_timeout : first_look(bounds)) - waited_;
  }
  /// It was waited for, and has taken enough for now.
  void note_wait(duration waited) noexcept { waited_ += waited; }
  /// `delivered_bytes`: so far, of the whole reply; counted from anywhere. False: too slow.
  [[nodiscard]] bool look(std::int64_t delivered_bytes, const limits& bounds) noexcept {
    const auto least = static_cast<std::int64_t>(least_taken(bounds));
    const bool is_slow = seen_ && delivered_bytes - *seen_ < least;
    seen_ = delivered_bytes;
    waited_ = duration::zero();
    return !is_slow;
  }

 private:
  std::optional<std::int64_t> seen_;  // at the last look
  duration waited_{};                 // since then
};

}  // namespace weft::http
