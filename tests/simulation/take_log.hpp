// When a client took how many bytes of a reply.
//
// Problem: a rule about an average rate is judged over every span of some length, not over the
// spans that the server happened to look at. Contract: times come in order. fewest() and most()
// give the bytes of the span, of all spans of that length within [from, to], in which the fewest or
// the most were taken. Bytes taken at the very edges of a span count as outside for fewest() and as
// inside for most(). Pure arithmetic.
//
//   take_log log;
//   log.note(loop.now(), bytes->size());
//   if (log.fewest(began, loop.now(), span) >= least) world.fail("cut, though it kept the rate");
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <weft/base/time.hpp>

namespace weft::simulation {

class take_log {
 public:
  void note(time_point when, std::size_t size_bytes) {
    total_ += size_bytes;
    takes_.push_back({.when = when, .before = total_ - size_bytes, .after = total_});
  }
  [[nodiscard]] std::size_t total() const noexcept { return total_; }

  /// SIZE_MAX: no span fits.
  [[nodiscard]] std::size_t fewest(time_point from, time_point to, duration span) const noexcept {
    std::size_t least = SIZE_MAX;
    const auto see = [&](time_point start) {
      if (start < from || start + span > to) return;
      least = std::min(least, taken_before(start + span) - taken_until(start));
    };
    see(from);
    for (const take& each : takes_) see(each.when);
    return least;
  }
  [[nodiscard]] std::size_t most(time_point from, time_point to, duration span) const noexcept {
    std::size_t largest = 0;
    for (const take& each : takes_) {
      if (each.when < from) continue;
      const std::size_t until = taken_until(std::min(to, each.when + span));
      largest = std::max(largest, until - std::min(until, each.before));
    }
    return largest;
  }

 private:
  struct take {
    time_point when;
    std::size_t before;  // in all
    std::size_t after;
  };

  [[nodiscard]] std::size_t taken_before(time_point when) const noexcept {
    const auto later = std::ranges::lower_bound(takes_, when, {}, &take::when);
    return later == takes_.begin() ? 0 : std::prev(later)->after;
  }
  [[nodiscard]] std::size_t taken_until(time_point when) const noexcept {
    const auto later = std::ranges::upper_bound(takes_, when, {}, &take::when);
    return later == takes_.begin() ? 0 : std::prev(later)->after;
  }

  std::vector<take> takes_;
  std::size_t total_ = 0;
};

}  // namespace weft::simulation
