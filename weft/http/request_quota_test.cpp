#include <weft/http/request_quota.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>

#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using std::chrono::seconds;

class request_quota_test : public testing::in_memory {};

TEST_F(request_quota_test, tells_a_client_that_asks_too_often_when_to_come_again) {
  http().get("/", [] { return "here"; });
  const request_quota quota{
      {.client = {.requests = 1, .per = seconds{10}, .burst = 2}}, http(), loop()};
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/")).status, 200);
    EXPECT_EQ((co_await client.ask("GET", "/nowhere")).status, 404) << "which counts as well";
    auto other = co_await world().connect();
    const auto refused = co_await other.ask("GET", "/");
    EXPECT_EQ(refused.status, 429) << "another connection of the same client";
    EXPECT_EQ(refused.field("Retry-After"), "10");
    EXPECT_EQ(refused.field("Content-Type"), "application/problem+json");
    co_await world().sleep(seconds{10});
    EXPECT_EQ((co_await other.ask("GET", "/")).status, 200);
  });
}

/// Whom a proxy hides is not everybody's guest.
TEST_F(request_quota_test, counts_all_whose_address_is_hidden_as_one_client) {
  server_options options{.drain_idle = duration::zero()};
  options.trusted_proxies = {"0.0.0.0/0", "::/0"};
  options.forwarding = forwarding::x_forwarded_for;
  serve(backend_kind::simulated, options);
  http().get("/", [] { return "here"; });
  const request_quota quota{
      {.client = {.requests = 1, .per = seconds{10}, .burst = 2}}, http(), loop()};
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (const int status : {200, 200, 429})
      EXPECT_EQ((co_await client.ask("GET", "/", {}, "X-Forwarded-For: unknown\r\n")).status,
                status);
    EXPECT_EQ((co_await client.ask("GET", "/", {}, "X-Forwarded-For: 192.0.2.1\r\n")).status, 200);
  });
}

TEST_F(request_quota_test, refuses_all_beyond_what_the_server_answers) {
  http().get("/", [] { return "here"; });
  const request_quota quota{
      {.client = {.requests = 0}, .all = {.requests = 2, .per = seconds{1}, .burst = 1, .keys = 1}},
      http(),
      loop()};
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/")).status, 200);
    const auto refused = co_await client.ask("GET", "/");
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.field("Retry-After"), "1");
  });
}

TEST_F(request_quota_test, is_none_that_no_clock_keeps) {
  const auto make = [&](const rate_limit& limit) {
    const request_quota quota{{.client = limit}, http(), loop()};
  };
  EXPECT_THROW(make({.requests = 4'000'000'000, .per = seconds{1}}), std::invalid_argument);
  EXPECT_THROW(make({.burst = 0}), std::invalid_argument);
  EXPECT_THROW(make({.keys = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace weft::http
