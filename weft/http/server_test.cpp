#include <weft/http/server.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <weft/testing/allocation_failure.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::each_backend;
using testing::http_client;
using testing::http_reply;
using testing::repeated;

class server_test : public each_backend {};
class server_in_memory : public testing::in_memory {};
INSTANTIATE_TEST_SUITE_P(on, server_test, backends, backend_name);

TEST_P(server_test, says_what_is_not_there) {
  http().get("/here", [] { return "here"; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const http_reply answer = co_await client.ask("GET", "/elsewhere");
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(answer.field("Content-Type"), "application/problem+json");
    EXPECT_EQ((co_await client.ask("GET", "/here")).status, 200);
  });
}

TEST_P(server_test, says_which_methods_a_path_has) {
  http().get("/a", [] { return "a"; }).post("/a", [] { return "b"; }).put("/b", [] { return "c"; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const http_reply wrong = co_await client.ask("DELETE", "/a");
    EXPECT_EQ(wrong.status, 405);
    EXPECT_EQ(wrong.field("Allow"), "GET, HEAD, POST, OPTIONS");
    const http_reply options = co_await client.ask("OPTIONS", "/a");
    EXPECT_EQ(options.status, 204);
    EXPECT_EQ(options.field("Allow"), wrong.field("Allow"));
    const http_reply all = co_await client.ask("OPTIONS", "*");
    EXPECT_EQ(all.status, 204);
    EXPECT_NE(all.field("Allow").value_or("").find("PUT"), std::string::npos);
    EXPECT_EQ((co_await client.ask("HEAD", "/a")).field("Content-Length"), "1");
  });
}

TEST_P(server_test, finds_a_path_however_it_is_written) {
  http().get("/a/{name}", [](const request& r) { return std::string{r.path()}; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/x/../a/./%62c%2f?q=1")).body, "/a/bc%2F");
  });
}

TEST_P(server_test, refuses_conflicting_routes_with_both_names) {
  http().get("/a/{x}", [] { return ""; });
  try {
    http().get("/a/{y}", [] { return ""; });
    ADD_FAILURE() << "the second was taken";
  } catch (const std::invalid_argument& why) {
    EXPECT_NE(std::string{why.what()}.find("/a/{x}"), std::string::npos) << why.what();
    EXPECT_NE(std::string{why.what()}.find("/a/{y}"), std::string::npos) << why.what();
  }
}

TEST_P(server_test, counts_connections_and_requests) {
  http().get("/", [] { return ""; });
  run([&]() -> task<void> {
    EXPECT_EQ(http().connections(), 0U);
    {
      auto first = co_await world().connect();
      auto second = co_await world().connect();
      for (int i = 0; i < 3; ++i) co_await first.ask("GET", "/");
      co_await second.ask("GET", "/");
      EXPECT_EQ(http().connections(), 2U);
      EXPECT_EQ(http().requests(), 4U);
    }
    while (http().connections() != 0) co_await yield{loop()};
  });
}

TEST_P(server_test, turns_away_who_comes_beyond_the_limit) {
  serve_within({.connections = 2});
  http().get("/", [] { return "in"; });
  run([&]() -> task<void> {
    auto first = co_await world().connect();
    EXPECT_EQ((co_await first.ask("GET", "/")).status, 200);
    {
      auto second = co_await world().connect();
      EXPECT_EQ((co_await second.ask("GET", "/")).status, 200);
      auto third = co_await world().connect();
      co_await third.send(repeated("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 1'000));
      const http_reply refused = co_await third.reply();
      EXPECT_EQ(refused.status, 503);
      EXPECT_EQ(refused.field("Connection"), "close");
      EXPECT_EQ(co_await third.rest(), "");
      EXPECT_EQ(third.last_error(), errc::closed) << "it hears why, whatever it has sent";
      EXPECT_EQ(http().connections(), 2U);
    }
    while (http().connections() != 1) co_await yield{loop()};
    auto fourth = co_await world().connect();
    EXPECT_EQ((co_await fourth.ask("GET", "/")).status, 200) << "there is room again";
  });
}

// However many come, few of them are listened to.
TEST_F(server_in_memory, tells_so_many_at_a_time_why_they_are_turned_away) {
  constexpr int told_most = 256;
  serve_within({.connections = 1});
  http().get("/", [] { return "in"; });
  run([&]() -> task<void> {
    auto first = co_await world().connect();
    EXPECT_EQ((co_await first.ask("GET", "/")).status, 200);
    std::vector<http_client> others;
    for (int i = 0; i < told_most + 10; ++i) others.push_back(co_await world().connect());
    int told = 0;
    for (http_client& other : others) {
      const int status = (co_await other.reply()).status;
      EXPECT_TRUE(status == 503 || status == 0) << status;
      told += status == 503 ? 1 : 0;
    }
    EXPECT_EQ(told, told_most);
    others.clear();
    EXPECT_EQ((co_await first.ask("GET", "/")).status, 200) << "those who are in notice nothing";
  });
}

// A reply that was cut short must be the last: the next would be taken for the rest of it.
TEST_P(server_test, ends_the_connection_when_memory_runs_out_within_a_reply) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "a sanitizer's malloc";
  constexpr std::size_t large_bytes = 8 << 20;
  const std::string large(large_bytes, 'x');
  http().route(method::get, "/large", [&](exchange& e) {
    const testing::allocation_failure once{large_bytes};
    e.reply(status::ok, "text/plain", large);
  });
  http().get("/", [] { return "next"; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string all = co_await client.rest();
    EXPECT_TRUE(all.starts_with("HTTP/1.1 200 OK\r\n")) << all;
    EXPECT_EQ(all.find("HTTP/1.1", 1), std::string::npos) << all;
    auto another = co_await world().connect();
    EXPECT_EQ((co_await another.ask("GET", "/")).body, "next");
  });
}

}  // namespace
}  // namespace weft::http
