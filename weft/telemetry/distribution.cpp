#include <weft/telemetry/distribution.hpp>

#include <algorithm>
#include <cmath>

namespace weft::telemetry {

void distribution::prepare() {
  if (buckets_.empty()) buckets_.resize(buckets::count);
}

void distribution::add_bucket(std::size_t bucket, std::uint64_t count) {
  if (count == 0) return;
  prepare();
  buckets_[bucket] += count;
  count_ += count;
}

void distribution::add_totals(std::uint64_t sum, std::uint64_t max) noexcept {
  sum_ += sum;
  max_ = std::max(max_, max);
}

void distribution::record(std::uint64_t value) {
  add_bucket(buckets::of(value), 1);
  add_totals(value, value);
}

void distribution::merge(const distribution& other) {
  for (std::size_t bucket = 0; bucket < other.buckets_.size(); ++bucket)
    add_bucket(bucket, other.buckets_[bucket]);
  add_totals(other.sum_, other.max_);
}

double distribution::mean() const noexcept {
  return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

std::uint64_t distribution::percentile(double percent) const noexcept {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(percent / 100.0 * static_cast<double>(count_));
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets::count - 1; ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) return std::min(buckets::largest_in(bucket), max_);
  }
  return max_;
}

std::uint64_t distribution::count_up_to(std::uint64_t value) const noexcept {
  return count_in(0, buckets::of(value) + 1);
}

std::uint64_t distribution::count_between(std::uint64_t low, std::uint64_t high) const noexcept {
  return count_in(buckets::of(low) + 1, buckets::of(high) + 1);
}

std::uint64_t distribution::count_in(std::size_t begin, std::size_t end) const noexcept {
  if (buckets_.empty()) return 0;
  std::uint64_t seen = 0;
  for (std::size_t bucket = begin; bucket < end; ++bucket) seen += buckets_[bucket];
  return seen;
}

}  // namespace weft::telemetry
