#include <weft/http/rate_limiter.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <weft/http/siphash.hpp>

namespace weft::http {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::uint64_t, 2> secret = {1, 2};
constexpr time_point start = time_point{} + 1h;

TEST(rate_limiter, admits_a_burst_and_then_the_rate) {
  rate_limiter limiter{{.requests = 10, .per = 1s, .burst = 3, .keys = 8}, secret};
  EXPECT_EQ(limiter.admit("a", start).remaining, 2u);
  EXPECT_EQ(limiter.admit("a", start).remaining, 1u);
  EXPECT_TRUE(limiter.admit("a", start).admitted);
  const rate_verdict fourth = limiter.admit("a", start);
  EXPECT_FALSE(fourth.admitted);
  EXPECT_EQ(fourth.retry_after, 100ms);
  EXPECT_FALSE(limiter.admit("a", start + 99ms).admitted);
  EXPECT_TRUE(limiter.admit("a", start + 100ms).admitted);
  EXPECT_FALSE(limiter.admit("a", start + 100ms).admitted);
  // Full again, and no fuller.
  EXPECT_EQ(limiter.admit("a", start + 1h).remaining, 2u);
}

TEST(rate_limiter, a_refusal_costs_nothing) {
  rate_limiter limiter{{.requests = 10, .per = 1s, .burst = 1, .keys = 8}, secret};
  EXPECT_TRUE(limiter.admit("a", start).admitted);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(limiter.admit("a", start + 50ms).admitted);
  EXPECT_TRUE(limiter.admit("a", start + 100ms).admitted);
}

TEST(rate_limiter, over_a_long_time_admits_exactly_the_rate) {
  rate_limiter limiter{{.requests = 100, .per = 1s, .burst = 10, .keys = 8}, secret};
  int admitted = 0;
  for (int ms = 0; ms < 10'000; ++ms) admitted += limiter.admit("a", start + ms * 1ms).admitted;
  EXPECT_EQ(admitted, 1000 + 9);
}

TEST(rate_limiter, keys_do_not_know_each_other) {
  rate_limiter limiter{{.requests = 1, .per = 1s, .burst = 1, .keys = 1024}, secret};
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(limiter.admit(std::to_string(i), start).admitted);
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(limiter.admit(std::to_string(i), start).admitted);
}

// One row: the one that is nearest to full is forgotten, never one that is being refused.
TEST(rate_limiter, a_full_table_forgets_who_has_asked_least) {
  rate_limiter limiter{{.requests = 1, .per = 1s, .burst = 4, .keys = 8}, secret};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(limiter.admit("greedy", start).admitted);
  for (int i = 0; i < 10'000; ++i)
    EXPECT_TRUE(limiter.admit("modest " + std::to_string(i), start).admitted);
  EXPECT_FALSE(limiter.admit("greedy", start).admitted);
}

TEST(rate_limiter, says_when_to_come_again) {
  EXPECT_EQ(retry_after_seconds({.admitted = false, .retry_after = 1ms, .remaining = 0}), 1u);
  EXPECT_EQ(retry_after_seconds({.admitted = false, .retry_after = 1s, .remaining = 0}), 1u);
  EXPECT_EQ(retry_after_seconds({.admitted = false, .retry_after = 1001ms, .remaining = 0}), 2u);
}

TEST(rate_limiter, a_key_is_an_address_or_a_network_of_ipv6) {
  const auto one = *net::ip_address::parse("2001:db8::1");
  const auto near = *net::ip_address::parse("2001:db8::ffff:1");
  const auto far = *net::ip_address::parse("2001:db8:0:1::1");
  EXPECT_EQ(rate_key(one), rate_key(near));
  EXPECT_NE(rate_key(one), rate_key(far));
  const auto ipv4 = *net::ip_address::parse("10.0.0.1");
  const auto mapped = *net::ip_address::parse("::ffff:10.0.0.1");
  const auto other = *net::ip_address::parse("10.0.0.2");
  EXPECT_EQ(rate_key(ipv4), rate_key(mapped));
  EXPECT_NE(rate_key(ipv4), rate_key(other));
}

// Test vectors of the paper's authors: key and text are 00 01 02 ...
TEST(siphash, gives_what_its_authors_say) {
  constexpr std::array<std::uint64_t, 2> key = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
  std::string text;
  for (char c = 0; c < 15; ++c) text += c;
  EXPECT_EQ(siphash("", key), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(siphash(text.substr(0, 1), key), 0x74f839c593dc67fdu);
  EXPECT_EQ(siphash(text.substr(0, 8), key), 0x93f5f5799a932462u);
  EXPECT_EQ(siphash(text, key), 0xa129ca6149be45e5u);
}

}  // namespace
}  // namespace weft::http
