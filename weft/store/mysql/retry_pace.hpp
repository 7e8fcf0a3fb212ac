// When a server that was not to be had is tried again.
//
// Problem: many shards of many programs lose a server at once, and must not come back at once.
// Contract: after a failure there is a pause, twice as long after each further one, up to a bound;
// each is drawn between half of that and all of it. A success ends that. Keeps no time itself.
//
//   if (!pace.is_open(loop.now())) co_return fail(errc::unavailable);
//   if (co_await try_it()) pace.succeeded(); else pace.failed(loop.now());
#pragma once

#include <algorithm>
#include <cstdint>

#include <weft/base/random.hpp>
#include <weft/base/time.hpp>

namespace weft::store::mysql {

class retry_pace {
 public:
  retry_pace(duration first, duration most, std::uint64_t seed) noexcept
      : first_{first}, most_{most}, next_{first}, dice_{seed} {}

  [[nodiscard]] bool is_open(time_point now) const noexcept { return opens_ <= now; }
  void succeeded() noexcept {
    next_ = first_;
    opens_ = time_point::min();
  }
  void failed(time_point now) noexcept {
    opens_ = now + duration{dice_.between(next_.count() / 2, next_.count())};
    next_ = std::min(next_ * 2, most_);
  }

 private:
  duration first_;
  duration most_;
  duration next_;
  time_point opens_ = time_point::min();
  random dice_;
};

}  // namespace weft::store::mysql
