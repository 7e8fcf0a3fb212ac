#include <weft/telemetry/distribution.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using weft::telemetry::buckets;
using weft::telemetry::distribution;

TEST(distribution, is_empty_at_first) {
  const distribution values;
  EXPECT_EQ(values.count(), 0U);
  EXPECT_EQ(values.percentile(99), 0U);
  EXPECT_EQ(values.mean(), 0.0);
}

TEST(distribution, small_values_are_exact) {
  distribution values;
  for (std::uint64_t value = 1; value <= 100; ++value) values.record(value);
  EXPECT_EQ(values.percentile(50), 50U);
  EXPECT_EQ(values.percentile(99), 99U);
  EXPECT_EQ(values.percentile(99.1), 100U);
  EXPECT_EQ(values.percentile(0), 1U);
  EXPECT_EQ(values.percentile(100), 100U);
  EXPECT_DOUBLE_EQ(values.mean(), 50.5);
}

TEST(distribution, one_value_is_every_percentile) {
  distribution values;
  values.record(1'234'567);
  EXPECT_EQ(values.percentile(0.1), 1'234'567U);
  EXPECT_EQ(values.percentile(100), 1'234'567U);
}

// Against the sorted values themselves, over nine decades.
TEST(distribution, percentiles_are_within_a_bucket_of_the_truth) {
  std::mt19937_64 random{7};
  distribution values;
  std::vector<std::uint64_t> sorted;
  for (int i = 0; i < 20'000; ++i) {
    const double exponent = static_cast<double>(random() % 9'000) / 1'000.0;
    const auto value = static_cast<std::uint64_t>(std::pow(10.0, exponent));
    values.record(value);
    sorted.push_back(value);
  }
  std::ranges::sort(sorted);
  for (const double percent : {1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 99.99}) {
    const double rank = std::ceil(percent / 100.0 * static_cast<double>(sorted.size()));
    const std::uint64_t truth = sorted[static_cast<std::size_t>(rank) - 1];
    EXPECT_GE(values.percentile(percent), truth) << percent;
    EXPECT_LE(values.percentile(percent), truth + truth / 127 + 1) << percent;
  }
  EXPECT_EQ(values.max(), sorted.back());
}

// The end of one bucket and the start of the next must not fall together.
TEST(distribution, neighbours_of_powers_of_two_stay_in_order) {
  for (int bits = 1; bits < buckets::largest_bits; ++bits) {
    const std::uint64_t power = std::uint64_t{1} << bits;
    distribution values;
    values.record(power - 1);
    values.record(power);
    values.record(power * 2);
    EXPECT_EQ(values.percentile(30), power - 1) << bits;
    EXPECT_GE(values.percentile(60), power) << bits;
    EXPECT_LE(values.percentile(60), power + power / 127) << bits;
  }
}

TEST(distribution, huge_values_keep_their_maximum) {
  distribution values;
  values.record(5);
  values.record(~std::uint64_t{0} / 2);
  EXPECT_EQ(values.percentile(100), ~std::uint64_t{0} / 2);
  EXPECT_EQ(values.percentile(50), 5U);
}

TEST(distribution, clear_forgets) {
  distribution values;
  values.record(1'000'000);
  values.clear();
  values.record(3);
  EXPECT_EQ(values.count(), 1U);
  EXPECT_EQ(values.max(), 3U);
  EXPECT_EQ(values.percentile(100), 3U);
}

TEST(distribution, merged_is_as_if_recorded_in_one) {
  distribution left;
  distribution right;
  distribution both;
  for (std::uint64_t value = 1; value <= 100'000; ++value) {
    (value % 3 == 0 ? left : right).record(value);
    both.record(value);
  }
  left.merge(right);
  left.merge(distribution{});
  EXPECT_EQ(left.count(), both.count());
  EXPECT_EQ(left.sum(), both.sum());
  EXPECT_EQ(left.max(), both.max());
  for (const double percent : {50.0, 99.0, 99.9, 99.99, 99.999})
    EXPECT_EQ(left.percentile(percent), both.percentile(percent)) << percent;
  EXPECT_EQ(left.percentile(99.999), 100'000U) << "99,999 would be as right, but is in its bucket";
}

TEST(distribution, counts_what_lies_below_a_bound) {
  distribution values;
  EXPECT_EQ(values.count_up_to(100), 0U);
  for (std::uint64_t value = 1; value <= 200; ++value) values.record(value);
  EXPECT_EQ(values.count_up_to(0), 0U);
  EXPECT_EQ(values.count_up_to(100), 100U);
  EXPECT_EQ(values.count_up_to(~std::uint64_t{0}), 200U);
}

TEST(distribution, counts_what_lies_between_two_bounds) {
  distribution values;
  EXPECT_EQ(values.count_between(10, 20), 0U);
  for (std::uint64_t value = 1; value <= 200; ++value) values.record(value);
  EXPECT_EQ(values.count_between(10, 20), 10U);
  EXPECT_EQ(values.count_between(20, 20), 0U);
  EXPECT_EQ(values.count_between(150, ~std::uint64_t{0}), 50U);
}

}  // namespace
