// How often something may happen: so many times a second on average, and ten seconds' worth at
// once.
//
// Contract: take() says whether once more is within the bound; give() allows so many more. One
// shard.
//
//   if (!resets_.take(loop.now())) cut(NGHTTP2_ENHANCE_YOUR_CALM);
#pragma once

#include <algorithm>
#include <cstdint>

#include <weft/base/time.hpp>

namespace weft::http::http2 {

class rate_bound {
 public:
  static constexpr std::int64_t seconds_at_once = 10;

  explicit rate_bound(std::uint32_t per_second) noexcept
      : most_{per_second * seconds_at_once}, left_{most_} {}

  void give(std::int64_t more) noexcept { left_ = std::min(left_ + more, most_); }

  [[nodiscard]] bool take(time_point now) noexcept {
    if (left_ == 0) [[unlikely]]
      refill(now);
    if (left_ == 0) return false;
    if (left_ == most_) since_ = now;
    --left_;
    return true;
  }

 private:
  void refill(time_point now) noexcept {
    constexpr std::int64_t all_ms = seconds_at_once * 1000;
    const auto gone = std::chrono::duration_cast<std::chrono::milliseconds>(now - since_).count();
    const std::int64_t more = std::min<std::int64_t>(gone, all_ms) * most_ / all_ms;
    if (more == 0) return;
    give(more);
    since_ = now;
  }

  std::int64_t most_;
  std::int64_t left_;
  time_point since_;  // what has been earned from then on is still to be given
};

}  // namespace weft::http::http2
