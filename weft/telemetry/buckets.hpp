// Where a histogram counts a value: log-linear buckets, as HdrHistogram has them.
//
// Problem: latencies span nine decades, and each needs the same relative precision in a fixed few
// kilobytes. Contract: each power of two has 128 buckets of equal width, so the largest value of a
// bucket is at most 1/128 (0.8 %) above any other in it; values below 256 have a bucket each.
// Values of 2^40 and above (18 minutes in nanoseconds, 1 TiB in bytes) share the last bucket.
//
//   const std::size_t bucket = buckets::of(1'234'567);
//   buckets::largest_in(bucket);  // 1'236'991
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft::telemetry {

struct buckets {
  static constexpr int step_bits = 7;
  static constexpr int largest_bits = 40;
  static constexpr std::size_t steps = std::size_t{1} << step_bits;
  static constexpr std::size_t count = (largest_bits - step_bits + 1) * steps;

  /// Values below `steps` have a bucket each. Above, the value is shifted right until 8 bits are
  /// left, of which the first is always set: the other 7 are the step, the shift is the row.
  [[nodiscard]] static constexpr std::size_t of(std::uint64_t value) noexcept {
    if (value < steps) return static_cast<std::size_t>(value);
    if (value >> largest_bits != 0) return count - 1;
    const int shift = std::bit_width(value) - (step_bits + 1);
    return static_cast<std::size_t>(shift) * steps + static_cast<std::size_t>(value >> shift);
  }

  /// The last bucket has none; there this is the largest value below 2^40.
  [[nodiscard]] static constexpr std::uint64_t largest_in(std::size_t bucket) noexcept {
    if (bucket < steps) return bucket;
    const std::size_t shift = bucket / steps - 1;
    const std::uint64_t leading = steps + bucket % steps;
    return ((leading + 1) << shift) - 1;
  }
};

static_assert(buckets::of((std::uint64_t{1} << buckets::largest_bits) - 1) == buckets::count - 1);

}  // namespace weft::telemetry
