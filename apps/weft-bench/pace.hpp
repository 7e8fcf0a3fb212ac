// When the requests of a load are due: as soon as a connection is free (closed loop), or at a fixed
// rate that no slow reply holds up (open loop).
//
// An open loop measures each request from when it was due, not from when a connection was free to
// send it. Else the requests that a stall of the server has kept from being sent would be missing
// from the percentiles ("coordinated omission"; Gil Tene, "How NOT to Measure Latency", 2013).
//
//   weft::bench::pace pace{10'000};        // a second
//   pace.begin(now(), now() + 1e9);        // ten thousand, evenly
//   if (pace.next_due() <= now()) send(pace.take());
#pragma once

#include <cstdint>
#include <limits>

namespace weft::bench {

class pace {
 public:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  /// 0: a closed loop, which has no times of its own.
  explicit pace(double requests_per_second) noexcept
      : interval_ns_{requests_per_second > 0 ? 1e9 / requests_per_second : 0} {}

  [[nodiscard]] bool is_fixed() const noexcept { return interval_ns_ > 0; }

  /// The first is due at `first_ns`, none at `end_ns` or later.
  void begin(std::uint64_t first_ns, std::uint64_t end_ns) noexcept {
    first_ns_ = first_ns;
    end_ns_ = end_ns;
    taken_ = 0;
  }

  [[nodiscard]] std::uint64_t next_due() const noexcept {
    const std::uint64_t due = due_of(taken_);
    return due < end_ns_ ? due : never;
  }

  /// When the one was due that is the caller's now; there must be one.
  std::uint64_t take() noexcept {
    const std::uint64_t due = next_due();
    ++taken_;
    return due;
  }

  /// How many there will be that nobody has taken.
  [[nodiscard]] std::uint64_t left() const noexcept {
    if (next_due() == never) return 0;
    auto all = static_cast<std::uint64_t>(static_cast<double>(end_ns_ - first_ns_) / interval_ns_);
    while (due_of(all) < end_ns_) ++all;  // what rounding has lost
    while (all > 0 && due_of(all - 1) >= end_ns_) --all;
    return all - taken_;
  }

 private:
  [[nodiscard]] std::uint64_t due_of(std::uint64_t number) const noexcept {
    return first_ns_ + static_cast<std::uint64_t>(static_cast<double>(number) * interval_ns_);
  }

  double interval_ns_;
  std::uint64_t first_ns_ = 0;
  std::uint64_t end_ns_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace weft::bench
