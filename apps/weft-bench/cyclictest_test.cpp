#include "wakeup_run.hpp"

#include <gtest/gtest.h>

namespace weft::bench {
namespace {

TEST(cyclictest, its_histogram_is_read_with_what_overflowed) {
  const auto read = read_histogram(
      "# /dev/cpu_dma_latency set to 0us\n# Histogram\n000000 000000\n000012 000082\n"
      "000013 000017\n# Total: 000000099\n# Min Latencies: 00012\n# Avg Latencies: 00012\n"
      "# Max Latencies: 00079\n# Histogram Overflows: 00001\n"
      "# Histogram Overflow at cycle number:\n# Thread 0: 00007\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->count(), 100U);
  EXPECT_EQ(read->max(), 79'000U);
  EXPECT_EQ(read->count_up_to(12'000), 82U);
}

TEST(cyclictest, what_is_no_histogram_is_refused) {
  EXPECT_FALSE(read_histogram(""));
  EXPECT_FALSE(read_histogram("Unable to change scheduling policy!\n"));
  EXPECT_FALSE(read_histogram("# Max Latencies: 00079\n"));
}

}  // namespace
}  // namespace weft::bench
