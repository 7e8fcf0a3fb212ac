// Requests that are sent again: which, how often, and when no more.
#include <string>

#include <weft/coro/with_deadline.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::client_fixture;
using testing::http_client;
using testing::scripted_server;
using namespace std::chrono_literals;

/// Hears the first `failures` requests out and closes; answers the others.
scripted_server::script fail_first(unsigned failures) {
  return [failures](unsigned number, http_client& peer) -> task<void> {
    std::ignore = co_await peer.receive();
    if (number >= failures)
      co_await peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  };
}

class client_retry : public client_fixture {};
INSTANTIATE_TEST_SUITE_P(in_memory, client_retry, ::testing::Values(backend_kind::simulated),
                         testing::backend_name);

TEST_P(client_retry, asks_again_until_it_is_answered) {
  run_against(fail_first(2), {.retries = 2},
              [&](client& asking, scripted_server& server) -> task<void> {
                const time_point began = loop().now();
                const auto answer = co_await asking.get(server.url());
                EXPECT_TRUE(answer.has_value()) << answer.error().message();
                EXPECT_EQ(server.connections(), 3U);
                EXPECT_EQ(counted("http_client_retries_total"), 2);
                EXPECT_GE(loop().now() - began, 75ms) << "half of 50 and of 100";
              });
}

TEST_P(client_retry, gives_up_after_so_many) {
  run_against(fail_first(3), {.retries = 2},
              [](client& asking, scripted_server& server) -> task<void> {
                EXPECT_FALSE((co_await asking.get(server.url())).has_value());
                EXPECT_EQ(server.connections(), 3U);
              });
}

TEST_P(client_retry, never_sends_a_post_twice) {
  run_against(fail_first(1), {.retries = 2},
              [](client& asking, scripted_server& server) -> task<void> {
                EXPECT_FALSE((co_await asking.post(server.url(), "x", text_plain)).has_value());
                EXPECT_EQ(server.connections(), 1U);
              });
}

TEST_P(client_retry, takes_half_an_answer_for_one) {
  run_against(
      [](unsigned, http_client& peer) -> task<void> {
        std::ignore = co_await peer.receive();
        co_await peer.send("HTTP/1.1 2");
      },
      {.retries = 2},
      [](client& asking, scripted_server& server) -> task<void> {
        EXPECT_FALSE((co_await asking.get(server.url())).has_value());
        EXPECT_EQ(server.connections(), 1U);
      });
}

TEST_P(client_retry, has_a_budget_for_all) {
  run_against(fail_first(1'000), {.retries = 1},
              [&](client& asking, scripted_server& server) -> task<void> {
                for (int i = 0; i < 51; ++i)  // the first of them finds it full
                  EXPECT_FALSE((co_await asking.get(server.url())).has_value());
                EXPECT_EQ(counted("http_client_retries_total"), 10 + 50 / 10);
              });
}

TEST_P(client_retry, finds_a_connection_at_the_second_try_or_says_why_not) {
  run_with_client({.retries = 1}, [&](client& asking) -> task<void> {
    const auto answer = co_await asking.get("http://127.0.0.1:1/");
    EXPECT_FALSE(answer.has_value());
    EXPECT_TRUE(answer.error().message().contains("refused")) << answer.error().message();
    EXPECT_EQ(counted("http_client_retries_total"), 1);
  });
}

TEST_P(client_retry, ends_with_its_deadline) {
  run_against(fail_first(1'000), {.retries = 10},
              [&](client& asking, scripted_server& server) -> task<void> {
                const time_point began = loop().now();
                const auto answer = co_await with_timeout(200ms, asking.get(server.url()));
                EXPECT_FALSE(answer.has_value());
                EXPECT_EQ(loop().now() - began, 200ms);
                EXPECT_TRUE(answer.error().message().contains("no response came"));
              });
}

}  // namespace
}  // namespace weft::http
