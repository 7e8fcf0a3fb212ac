#include <weft/http/health_pages.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include <weft/coro/event.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::http_reply;

constexpr std::string_view all_ready = R"({"ready":true,"not_ready":[]})";

class health_pages_test : public testing::in_memory {};

TEST_F(health_pages_test, say_that_it_lives_and_is_ready) {
  health_pages pages{{}, http()};
  pages.check("yes", [] { return true; }).check("fine", [] { return result<void>{}; });
  pages.check("later", [this]() -> task<result<void>> {
    co_await yield{loop()};
    co_return result<void>{};
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/healthz")).body, "ok\n");
    const http_reply ready = co_await client.ask("GET", "/readyz");
    EXPECT_EQ(ready.status, 200);
    EXPECT_EQ(ready.field("content-type"), "application/json");
    EXPECT_EQ(ready.body, all_ready);
  });
}

TEST_F(health_pages_test, name_what_is_not_ready_and_live_all_the_same) {
  health_pages pages{{.health = "/live", .readiness = "/ready"}, http()};
  bool is_warm = false;
  pages.check("cache", [&] { return is_warm; })
      .check("thrown", []() -> bool { throw std::runtime_error{"secret"}; })
      .check("database", []() -> task<result<void>> { co_return fail(errc::reset); });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const http_reply answer = co_await client.ask("GET", "/ready");
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.body.find(R"({"ready":false,"not_ready":[{"name":"cache","why":")"), 0U)
        << answer.body;
    EXPECT_NE(answer.body.find(R"({"name":"database","why":)"), std::string::npos) << answer.body;
    EXPECT_NE(answer.body.find(R"({"name":"thrown","why":"it failed"})"), std::string::npos);
    EXPECT_EQ(answer.body.find("secret"), std::string::npos) << "that is for the log";
    is_warm = true;
    EXPECT_EQ((co_await client.ask("GET", "/ready")).body.find("cache"), std::string::npos);
    EXPECT_EQ((co_await client.ask("GET", "/live")).status, 200);
  });
}

TEST_F(health_pages_test, wait_for_all_checks_together_and_not_for_ever) {
  health_pages pages{{.timeout = std::chrono::milliseconds{50}}, http()};
  for (const char* name : {"first", "second", "third"})
    pages.check(name, [this]() -> task<bool> {
      co_return co_await sleep_for(loop(), std::chrono::hours{1});
    });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const time_point begun = loop().now();
    EXPECT_EQ((co_await client.ask("GET", "/readyz")).status, 503);
    EXPECT_LT(loop().now() - begun, std::chrono::milliseconds{100}) << "in virtual time";
  });
}

TEST_F(health_pages_test, forget_a_check_with_its_service_and_keep_that_while_it_is_asked) {
  health_pages pages{{}, http()};
  lifetime own{"a service"};
  event goes_on;
  pages.check(
      "slow",
      [&]() -> task<bool> {
        std::ignore = co_await goes_on.wait();
        co_return false;
      },
      &own);
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n");
    while (own.idle()) co_await yield{loop()};
    own.request_end();
    EXPECT_FALSE(own.idle()) << "its check is under way";
    goes_on.set();
    EXPECT_EQ((co_await client.reply()).status, 503);
    EXPECT_TRUE(own.idle());
    EXPECT_EQ((co_await client.ask("GET", "/readyz")).body, all_ready);
  });
}

TEST_F(health_pages_test, are_not_ready_while_the_server_drains) {
  health_pages pages{{}, http()};
  event goes_on;
  pages.check("slow", [&]() -> task<bool> {
    std::ignore = co_await goes_on.wait();
    co_return true;
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n");
    for (int i = 0; i < 20; ++i) co_await yield{loop()};
    scope stopping{co_await this_task::environment()};
    stopping.spawn([](server& http) -> task<void> { std::ignore = co_await http.stop(); }(http()));
    while (!http().is_draining()) co_await yield{loop()};
    goes_on.set();
    const http_reply answer = co_await client.reply();
    EXPECT_EQ(answer.status, 503);
    EXPECT_NE(answer.body.find(R"({"name":"server","why":"it is about to end"})"),
              std::string::npos);
    co_await stopping.join();
  });
}

}  // namespace
}  // namespace weft::http
