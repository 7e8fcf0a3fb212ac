// Bodies that are not wanted: whoever sends one is answered before it is read.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <weft/http/access_log.hpp>
#include <weft/http/server.hpp>
#include <weft/testing/http2_client.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::http2_client;

constexpr std::string_view no_key = "POST /keys HTTP/1.1\r\nHost: a\r\n";
constexpr std::string_view with_key = "POST /keys HTTP/1.1\r\nHost: a\r\nKey: k\r\n";

class body_wish_test : public testing::each_backend {
 protected:
  void begin() {
    http().wrap_all(access_log{loop(), [this](std::string_view line) { logged += line; }});
    http()
        .group("")
        .within({.body_bytes = 8U << 20U})
        .taking_bodies_if([](const header_list& fields) { return fields.find("key").has_value(); })
        .post("/keys", [this](exchange& e) {
          ++calls;
          if (e.lacks_body() || !e.request().header("key"))
            return e.reply_problem(status::unauthorized, "say who you are");
          e.reply(status::ok, "text/plain", std::to_string(e.request().body().size()));
        });
  }
  std::int64_t received() {
    const auto seen = world().metrics().read();
    return seen.find("http_received_bytes_total")->value;
  }

  std::string logged;
  int calls = 0;
};
INSTANTIATE_TEST_SUITE_P(on, body_wish_test, backends, backend_name);

TEST_P(body_wish_test, whoever_may_not_send_one_is_answered_without_it) {
  begin();
  run([&]() -> task<void> {
    for (const std::string_view framing :
         {"Content-Length: 4194304\r\n", "Content-Length: 9000000\r\n", "Content-Length: 5\r\n",
          "Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\nContent-Length: 100000\r\n"}) {
      auto client = co_await world().connect();
      const int before = calls;
      co_await client.send(std::string{no_key} + std::string{framing} + "\r\n");
      const auto refused = co_await client.reply();
      EXPECT_EQ(refused.status, 401) << framing;
      EXPECT_EQ(calls, before + 1);
    }
    EXPECT_LT(received(), 2000) << "heads alone";
    EXPECT_NE(logged.find(" 401 "), std::string::npos) << "middlewares see it";
  });
}

TEST_P(body_wish_test, what_is_small_and_unread_costs_no_connection) {
  begin();
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(std::string{no_key} + "Content-Length: 5\r\n\r\n");
    EXPECT_EQ((co_await client.reply()).status, 401);
    co_await client.send("12345" + std::string{with_key} + "Content-Length: 3\r\n\r\nabc");
    EXPECT_EQ((co_await client.reply()).body, "3");
    EXPECT_EQ((co_await client.ask("POST", "/keys", "abcd")).status, 401)
        << "it came with its head";
    EXPECT_EQ((co_await client.ask("POST", "/keys", "abcd", "Key: k\r\n")).body, "4");
  });
}

TEST_P(body_wish_test, a_short_one_beyond_its_bound_is_no_different) {
  http()
      .group("")
      .within({.body_bytes = 10})
      .taking_bodies_if([](const header_list& fields) { return fields.find("key").has_value(); })
      .post("/short",
            [](exchange& e) { e.reply_problem(status::unauthorized, "say who you are"); });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("POST", "/short", "01234567890")).status, 401);
    EXPECT_EQ((co_await client.ask("POST", "/short", "01234567890", "Key: k\r\n")).status, 413);
  });
}

TEST_P(body_wish_test, whoever_may_has_it_read_whole) {
  begin();
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const std::string body(300'000, 'x');
    EXPECT_EQ((co_await client.ask("POST", "/keys", body, "Key: k\r\n")).body, "300000");
    co_await client.send(std::string{with_key} + "Transfer-Encoding: chunked\r\n\r\n");
    co_await world().sleep(std::chrono::milliseconds{2});
    co_await client.send("3\r\nabc\r\n0\r\n\r\n");
    EXPECT_EQ((co_await client.reply()).body, "3");
    co_await client.send(std::string{with_key} + "Content-Length: 9000000\r\n\r\n");
    EXPECT_EQ((co_await client.reply()).status, 413);
  });
}

TEST_P(body_wish_test, streams_are_no_different) {
  begin();
  run([&]() -> task<void> {
    http2_client client{std::move((co_await world().connect()).stream())};
    for (const std::string_view length : {"4194304", "9000000"}) {
      const auto id = client.begin("POST", "/keys", {{"content-length", length}}, false);
      co_await client.until([&] { return client.so_far(id).is_whole; });
      EXPECT_EQ(client.so_far(id).status, 401);
    }
    const auto id =
        client.begin("POST", "/keys", {{"content-length", "9000000"}, {"key", "k"}}, false);
    co_await client.until([&] { return client.so_far(id).is_whole; });
    EXPECT_EQ(client.so_far(id).status, 413);
    EXPECT_LT(received(), 1000) << "without a byte of it";
    EXPECT_EQ((co_await client.ask("POST", "/keys", "abc", {{"key", "k"}})).body, "3");
    EXPECT_EQ((co_await client.ask("POST", "/keys", "abc")).status, 401);
  });
}

}  // namespace
}  // namespace weft::http
