#include <weft/http/client/retry_budget.hpp>

#include <gtest/gtest.h>

namespace weft::http {
namespace {

unsigned spent(retry_budget& budget) {
  unsigned count = 0;
  while (budget.spend()) ++count;
  return count;
}

TEST(retry_budget, has_some_from_the_start) {
  retry_budget budget{10, 5};
  EXPECT_EQ(spent(budget), 5U);
  EXPECT_FALSE(budget.spend());
}

TEST(retry_budget, earns_a_share_of_the_requests) {
  retry_budget budget{10, 5};
  EXPECT_EQ(spent(budget), 5U);
  unsigned retries = 0;
  for (int request = 0; request < 1'000; ++request) {
    budget.earn();
    if (budget.spend()) ++retries;
  }
  EXPECT_EQ(retries, 100U);
}

TEST(retry_budget, saves_no_more_than_it_may) {
  retry_budget budget{50, 3};
  for (int request = 0; request < 1'000; ++request) budget.earn();
  EXPECT_EQ(spent(budget), 3U);
}

TEST(retry_budget, of_nothing_gives_nothing) {
  retry_budget none{0, 0};
  for (int request = 0; request < 1'000; ++request) none.earn();
  EXPECT_FALSE(none.spend());
}

}  // namespace
}  // namespace weft::http
