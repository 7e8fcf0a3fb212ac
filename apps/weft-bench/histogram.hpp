// Latencies of millions of requests, kept in a few kilobytes.
//
// Buckets are logarithmic with 128 linear steps to each power of two, so any percentile is read
// within 0.8 % of the truth; the largest value is kept exactly. Recording is an increment: no
// allocation, no search.
//
//   weft::bench::histogram latencies;
//   latencies.record(52'000);                      // nanoseconds
//   std::uint64_t p99 = latencies.percentile(99);  // nanoseconds
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::bench {

class histogram {
 public:
  // Values above are counted in the last bucket: 2^40 ns is 18 minutes.
  static constexpr int largest_bits = 40;

  void record(std::uint64_t nanoseconds);
  void clear() { *this = {}; }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }
  [[nodiscard]] double mean() const;

  // The smallest value that at least `percent` of the values do not exceed, rounded up to the end
  // of its bucket but never above `max()`. 0 when nothing was recorded. `percent` is 0 to 100.
  [[nodiscard]] std::uint64_t percentile(double percent) const;

 private:
  static constexpr int step_bits = 7;
  static constexpr std::size_t steps = std::size_t{1} << step_bits;
  static constexpr std::size_t bucket_count = (largest_bits - step_bits + 1) * steps;

  static std::size_t bucket_of(std::uint64_t value);
  static std::uint64_t largest_in(std::size_t bucket);

  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
  std::array<std::uint64_t, bucket_count> buckets_{};
};

}  // namespace weft::bench
