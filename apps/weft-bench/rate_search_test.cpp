#include "rate_search.hpp"

#include <gtest/gtest.h>

namespace weft::bench {
namespace {

TEST(rate_bisection, comes_close_to_what_is_kept) {
  for (const double truth : {120.0, 4'711.0, 9'999.0}) {
    rate_bisection rates{10'000};
    int probes = 0;
    while (!rates.is_done()) {
      const double rate = rates.next();
      rates.tell(rate, rate <= truth);
      ASSERT_LT(++probes, 30);
    }
    EXPECT_LE(rates.best(), truth);
    EXPECT_GE(rates.best(), truth * 0.97);
  }
}

TEST(rate_bisection, ends_where_nothing_is_kept) {
  rate_bisection rates{10'000};
  int probes = 0;
  while (!rates.is_done() && probes < 1000) {
    rates.tell(rates.next(), false);
    ++probes;
  }
  EXPECT_EQ(rates.best(), 0);
  EXPECT_LT(probes, 30);
}

}  // namespace
}  // namespace weft::bench
