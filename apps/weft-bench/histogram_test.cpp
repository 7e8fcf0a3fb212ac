#include "histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using weft::bench::histogram;

TEST(histogram, is_empty_at_first) {
  const histogram values;
  EXPECT_EQ(values.count(), 0U);
  EXPECT_EQ(values.percentile(99), 0U);
  EXPECT_EQ(values.mean(), 0.0);
}

TEST(histogram, small_values_are_exact) {
  histogram values;
  for (std::uint64_t value = 1; value <= 100; ++value) values.record(value);
  EXPECT_EQ(values.percentile(50), 50U);
  EXPECT_EQ(values.percentile(99), 99U);
  EXPECT_EQ(values.percentile(99.1), 100U);
  EXPECT_EQ(values.percentile(0), 1U);
  EXPECT_EQ(values.percentile(100), 100U);
  EXPECT_DOUBLE_EQ(values.mean(), 50.5);
}

TEST(histogram, one_value_is_every_percentile) {
  histogram values;
  values.record(1'234'567);
  EXPECT_EQ(values.percentile(0.1), 1'234'567U);
  EXPECT_EQ(values.percentile(100), 1'234'567U);
}

// Against the sorted values themselves, over nine decades.
TEST(histogram, percentiles_are_within_a_bucket_of_the_truth) {
  std::mt19937_64 random{7};
  histogram values;
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
TEST(histogram, neighbours_of_powers_of_two_stay_in_order) {
  for (int bits = 1; bits < histogram::largest_bits; ++bits) {
    const std::uint64_t power = std::uint64_t{1} << bits;
    histogram values;
    values.record(power - 1);
    values.record(power);
    values.record(power * 2);
    EXPECT_EQ(values.percentile(30), power - 1) << bits;
    EXPECT_GE(values.percentile(60), power) << bits;
    EXPECT_LE(values.percentile(60), power + power / 127) << bits;
  }
}

TEST(histogram, huge_values_keep_their_maximum) {
  histogram values;
  values.record(5);
  values.record(~std::uint64_t{0} / 2);
  EXPECT_EQ(values.percentile(100), ~std::uint64_t{0} / 2);
  EXPECT_EQ(values.percentile(50), 5U);
}

TEST(histogram, clear_forgets) {
  histogram values;
  values.record(1'000'000);
  values.clear();
  values.record(3);
  EXPECT_EQ(values.count(), 1U);
  EXPECT_EQ(values.max(), 3U);
  EXPECT_EQ(values.percentile(100), 3U);
}

}  // namespace
