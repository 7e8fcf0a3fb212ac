// Millions of values, such as latencies, kept in 34 KiB: their percentiles, sum and largest.
//
// Contract: any percentile is read within 0.8 % of the truth (buckets.hpp); the largest value is
// kept exactly. Recording is an increment: no search, and after the first, or prepare(), no
// allocation. Plain data: one thread at a time. What other threads are to read while it grows is a
// telemetry::histogram (instruments.hpp), which a snapshot turns into one of these.
//
//   weft::telemetry::distribution latencies;
//   latencies.record(52'000);                      // nanoseconds
//   std::uint64_t p99 = latencies.percentile(99);  // nanoseconds
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <weft/telemetry/buckets.hpp>

namespace weft::telemetry {

class distribution {
 public:
  /// Takes and touches its memory now, for those who must not wait for it later.
  void prepare();
  void record(std::uint64_t value);
  /// As if everything `other` has were recorded here.
  void merge(const distribution& other);
  void clear() { *this = {}; }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
  /// 0 when nothing was recorded.
  [[nodiscard]] double mean() const noexcept;

  /// The smallest value that at least `percent` of the values do not exceed, rounded up to the end
  /// of its bucket but never above max(). 0 when nothing was recorded. `percent` is 0 to 100, and
  /// may be as fine as 99.999.
  [[nodiscard]] std::uint64_t percentile(double percent) const noexcept;

  /// How many values did not exceed `value`, which is rounded up to the end of its bucket.
  [[nodiscard]] std::uint64_t count_up_to(std::uint64_t value) const noexcept;
  /// How many values exceeded `low` but not `high`, each rounded up to the end of its bucket.
  [[nodiscard]] std::uint64_t count_between(std::uint64_t low, std::uint64_t high) const noexcept;

  /// How a reader of shared buckets fills one: so many values of `bucket`, then sum and maximum.
  void add_bucket(std::size_t bucket, std::uint64_t count);
  void add_totals(std::uint64_t sum, std::uint64_t max) noexcept;

 private:
  [[nodiscard]] std::uint64_t count_in(std::size_t begin, std::size_t end) const noexcept;

  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
  std::vector<std::uint64_t> buckets_;  // none before the first value
};

}  // namespace weft::telemetry
