#include <weft/http/exchange.hpp>

#include <gtest/gtest.h>

#include <string>

#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::each_backend;
using testing::http_reply;

class exchange_test : public each_backend {};
INSTANTIATE_TEST_SUITE_P(on, exchange_test, backends, backend_name);

TEST_P(exchange_test, sends_bodies_and_fields_of_any_size) {
  http().get("/{body}/{field}", [](const request& r) {
    response made = response::text(std::string(std::stoul(std::string{*r.parameter("body")}), 'b'));
    const std::string value(std::stoul(std::string{*r.parameter("field")}), 'f');
    EXPECT_TRUE(made.add_field("X-Value", value).has_value());
    return made;
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    // Around what is copied behind the head, what fits a buffer, and beyond.
    for (const std::size_t body : {0U, 1U, 2'048U, 2'049U, 16'280U, 16'320U, 16'321U, 100'000U}) {
      for (const std::size_t field : {1U, 1'900U, 2'100U, 16'200U, 16'320U, 20'000U}) {
        const http_reply answer =
            co_await client.ask("GET", "/" + std::to_string(body) + "/" + std::to_string(field));
        EXPECT_EQ(answer.field("X-Value"), std::string(field, 'f')) << body << " " << field;
        EXPECT_EQ(answer.body, std::string(body, 'b')) << body << " " << field;
      }
    }
  });
}

TEST_P(exchange_test, gives_head_the_head_alone) {
  http().get("/", [] { return std::string(5'000, 'b'); });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const http_reply head = co_await client.ask("HEAD", "/");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.field("Content-Length"), "5000");
    EXPECT_EQ((co_await client.ask("GET", "/")).body.size(), 5'000U) << "and no byte of it came";
  });
}

TEST_P(exchange_test, gives_no_body_where_the_status_has_none) {
  http().get("/", [] { return response::text("never sent", status::not_modified); });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (int i = 0; i < 2; ++i) {
      const http_reply answer = co_await client.ask("GET", "/");
      EXPECT_EQ(answer.status, 304);
      EXPECT_FALSE(answer.field("Content-Length").has_value());
    }
  });
}

TEST_P(exchange_test, sends_the_first_reply_only) {
  http().route(method::get, "/twice", [](exchange& e) {
    EXPECT_FALSE(e.replied());
    e.reply(status::ok, "text/plain", "first");
    EXPECT_TRUE(e.replied());
    e.reply(status::ok, "text/plain", "second");
  });
  http().route(method::get, "/never", [](exchange&) {});
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/twice")).body, "first");
    EXPECT_EQ((co_await client.ask("GET", "/never")).status, 500) << "a request is always answered";
    EXPECT_EQ((co_await client.ask("GET", "/twice")).body, "first");
  });
}

TEST_P(exchange_test, closes_when_a_handler_wants_it) {
  http().route(method::get, "/", [](exchange& e) {
    e.close_after_reply();
    e.reply(status::ok, "text/plain", "bye");
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const http_reply answer = co_await client.ask("GET", "/");
    EXPECT_EQ(answer.field("Connection"), "close");
    EXPECT_EQ(answer.body, "bye");
    EXPECT_EQ(co_await client.rest(), "");
  });
}

}  // namespace
}  // namespace weft::http
