#include "histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weft::bench {

// Values below `steps` have a bucket each. Above, the value is shifted right until 8 bits are left,
// of which the first is always set: the other 7 are the step, the shift is the row.
std::size_t histogram::bucket_of(std::uint64_t value) {
  if (value < steps) return static_cast<std::size_t>(value);
  if (value >> largest_bits != 0) return bucket_count - 1;
  const int shift = std::bit_width(value) - (step_bits + 1);
  return static_cast<std::size_t>(shift) * steps + static_cast<std::size_t>(value >> shift);
}

std::uint64_t histogram::largest_in(std::size_t bucket) {
  if (bucket < steps) return bucket;
  const std::size_t shift = bucket / steps - 1;
  const std::uint64_t leading = steps + bucket % steps;
  return ((leading + 1) << shift) - 1;
}

void histogram::record(std::uint64_t nanoseconds) {
  ++buckets_[bucket_of(nanoseconds)];
  ++count_;
  sum_ += nanoseconds;
  max_ = std::max(max_, nanoseconds);
}

double histogram::mean() const {
  return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

std::uint64_t histogram::percentile(double percent) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(percent / 100.0 * static_cast<double>(count_));
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < bucket_count - 1; ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) return std::min(largest_in(bucket), max_);
  }
  return max_;
}

}  // namespace weft::bench
