// The highest rate that a server keeps up with: by open loops at different rates, each of which it
// serves without an error and fast enough, or does not.
//
//   const rate_search_result found = search_rate(plan, std::chrono::milliseconds{5}, stop, nullptr,
//                                                [](const rate_probe& each) { print(each); });
//   // found.most, a second; 0: not even the lowest
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "load.hpp"

namespace weft::bench {

// Halves what lies between the highest rate that was kept and the lowest that was not, until they
// are within 2 % of each other, or until next to nothing is left.
class rate_bisection {
 public:
  // `at_most` is beyond what can be kept.
  explicit rate_bisection(double at_most) noexcept
      : least_{at_most * least_of_most}, failed_{at_most} {}

  [[nodiscard]] bool is_done() const noexcept {
    return failed_ - kept_ <= failed_ * precision || failed_ <= least_;
  }
  [[nodiscard]] double next() const noexcept { return (kept_ + failed_) / 2; }
  void tell(double rate, bool is_kept) noexcept { (is_kept ? kept_ : failed_) = rate; }
  // The highest that was kept; 0: none yet.
  [[nodiscard]] double best() const noexcept { return kept_; }

 private:
  static constexpr double precision = 0.02;
  static constexpr double least_of_most = 0.004;
  double least_;
  double kept_ = 0;
  double failed_;
};

struct rate_probe {
  double rate = 0;  // that were due a second
  bool is_kept = false;
  load_result result;
};

struct rate_search_result {
  double most = 0;           // a second, of what was kept
  std::uint64_t served = 0;  // replies, in all
  bool interrupted = false;
  std::vector<rate_probe> probes;
};

// A closed loop first tells what the server can do at most. `plan.duration` is that of each probe;
// its rate is not looked at. No probe at all: not one reply came.
rate_search_result search_rate(load_plan plan, std::chrono::nanoseconds p99_most,
                               const std::atomic<bool>& stop, load_observer* observer,
                               const std::function<void(const rate_probe&)>& on_probe);

}  // namespace weft::bench
