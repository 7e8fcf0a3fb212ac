#include <weft/http/handler.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::each_backend;
using testing::http_reply;

struct knock {
  std::int64_t sequence = 0;
};

struct user {
  std::string name;
  std::int64_t age = 0;
};

class handler_test : public each_backend {};
INSTANTIATE_TEST_SUITE_P(on, handler_test, backends, backend_name);

TEST_P(handler_test, reads_and_writes_json) {
  http().post("/knock", [](knock p) { return knock{.sequence = p.sequence + 1}; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const http_reply answer = co_await client.ask("POST", "/knock", R"( {"sequence": 2} )");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, R"({"sequence":3})");
    EXPECT_EQ(answer.field("content-type"), "application/json");
    EXPECT_TRUE(answer.field("date").has_value());
    EXPECT_FALSE(answer.field("connection").has_value());
  });
}

TEST_P(handler_test, answers_a_bad_body_with_where_and_why) {
  bool called = false;
  http().post("/knock", [&](knock p) {
    called = true;
    return p;
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const http_reply answer = co_await client.ask("POST", "/knock", R"({"sequence":"two"})");
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.field("content-type"), "application/problem+json");
    EXPECT_NE(answer.body.find(R"("status":400)"), std::string::npos) << answer.body;
    EXPECT_NE(answer.body.find(R"("offset":12)"), std::string::npos) << answer.body;
    EXPECT_NE(answer.body.find(R"("path":"/sequence")"), std::string::npos) << answer.body;
    EXPECT_FALSE(called);
    EXPECT_EQ((co_await client.ask("POST", "/knock")).status, 400) << "no body at all";
    EXPECT_EQ((co_await client.ask("POST", "/knock", R"({"sequence":2})")).status, 200)
        << "the connection goes on";
  });
}

TEST_P(handler_test, takes_every_shape_of_function) {
  http()
      .get("/text", [] { return std::string{"string"}; })
      .get("/literal", [] { return "literal"; })
      .get("/json", [] { return std::vector<int>{1, 2, 3}; })
      .get("/nothing", [] {})
      .get("/response", [] { return response::text("made", status::created); })
      .get("/users/{name}", [](const request& r) { return std::string{*r.parameter("name")}; })
      .put("/users/{name}",
           [](const request& r, user u) { return user{std::string{*r.parameter("name")}, u.age}; })
      .patch("/users/{name}",
             [](const user& u, const request& r) {
               return u.name + std::string{*r.parameter("name")};
             })
      .del("/noexcept", []() noexcept { return "gone"; })
      .post("/map", [](std::map<std::string, int> counts) { return counts.size(); })
      .post("/pointer", +[](knock p) { return p; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/text")).body, "string");
    const http_reply literal = co_await client.ask("GET", "/literal");
    EXPECT_EQ(literal.body, "literal");
    EXPECT_EQ(literal.field("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_EQ((co_await client.ask("GET", "/json")).body, "[1,2,3]");
    const http_reply nothing = co_await client.ask("GET", "/nothing");
    EXPECT_EQ(nothing.status, 204);
    EXPECT_FALSE(nothing.field("Content-Length").has_value());
    EXPECT_EQ((co_await client.ask("GET", "/response")).status, 201);
    EXPECT_EQ((co_await client.ask("GET", "/users/ann")).body, "ann");
    EXPECT_EQ((co_await client.ask("PUT", "/users/ann", R"({"name":"x","age":3})")).body,
              R"({"name":"ann","age":3})");
    EXPECT_EQ((co_await client.ask("PATCH", "/users/b", R"({"name":"a","age":3})")).body, "ab");
    EXPECT_EQ((co_await client.ask("DELETE", "/noexcept")).body, "gone");
    EXPECT_EQ((co_await client.ask("POST", "/map", R"({"a":1,"b":2})")).body, "2");
    EXPECT_EQ((co_await client.ask("POST", "/pointer", R"({"sequence":5})")).body,
              R"({"sequence":5})");
  });
}

TEST_P(handler_test, takes_every_shape_of_coroutine) {
  event_loop& turning = loop();
  http()
      .get("/text",
           [&]() -> task<std::string> {
             co_await yield{turning};
             co_return "late";
           })
      .get("/nothing", [&]() -> task<void> { co_await yield{turning}; })
      .get("/at-once", []() -> task<response> { co_return response::text("now"); })
      .get(
          "/users/{name}",
          [&](const request& r) -> task<std::string> {
            co_await yield{turning};
            co_return std::string{*r.parameter("name")}.append(r.header("x-tail").value_or("none"));
          })
      .post("/value",
            [&](user u) -> task<user> {
              co_await yield{turning};
              co_return u;
            })
      .post("/reference",
            [&](const user& u) -> task<user> {
              co_await yield{turning};
              co_return u;
            })
      .post("/rvalue", [&](user&& u) -> task<result<user>> {
        co_await yield{turning};
        co_return std::move(u);
      });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/text")).body, "late");
    EXPECT_EQ((co_await client.ask("GET", "/nothing")).status, 204);
    EXPECT_EQ((co_await client.ask("GET", "/at-once")).body, "now");
    EXPECT_EQ((co_await client.ask("GET", "/users/ann", {}, "X-Tail: -end\r\n")).body, "ann-end");
    // Too long for a string's own bytes: what was freed too early shows.
    const std::string long_user = R"({"name":")" + std::string(100, 'n') + R"(","age":3})";
    for (const char* path : {"/value", "/reference", "/rvalue"})
      EXPECT_EQ((co_await client.ask("POST", path, long_user)).body, long_user) << path;
  });
}

TEST_P(handler_test, maps_errors_to_statuses) {
  struct expectation {
    const char* path;
    errc code;
    int status;
  };
  const std::vector<expectation> all = {
      {"/not_found", errc::not_found, 404},
      {"/invalid_argument", errc::invalid_argument, 400},
      {"/limit_exceeded", errc::limit_exceeded, 413},
      {"/timed_out", errc::timed_out, 504},
      {"/cancelled", errc::cancelled, 503},
      {"/exhausted", errc::exhausted, 503},
      {"/unavailable", errc::unavailable, 503},
      {"/unsupported", errc::unsupported, 501},
      {"/system", errc::system, 500},
  };
  for (const expectation& each : all) {
    http().get(each.path, [code = each.code]() -> result<knock> { return fail(code); });
    http().post(each.path, [code = each.code]() -> task<result<void>> { co_return fail(code); });
  }
  http().get("/good", []() -> result<knock> { return knock{7}; });
  http().get("/done", []() -> result<void> { return {}; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (const expectation& each : all) {
      const http_reply sync = co_await client.ask("GET", each.path);
      EXPECT_EQ(sync.status, each.status) << each.path;
      EXPECT_EQ(sync.field("Content-Type"), "application/problem+json") << each.path;
      EXPECT_EQ((co_await client.ask("POST", each.path)).status, each.status) << each.path;
    }
    EXPECT_EQ((co_await client.ask("GET", "/good")).body, R"({"sequence":7})");
    EXPECT_EQ((co_await client.ask("GET", "/done")).status, 204);
  });
}

TEST_P(handler_test, answers_what_is_thrown_with_500_and_goes_on) {
  event_loop& turning = loop();
  http()
      .get("/sync", []() -> std::string { throw std::runtime_error{"secret"}; })
      .get("/odd", []() -> std::string { throw 7; })
      .get("/async",
           [&]() -> task<std::string> {
             co_await yield{turning};
             throw std::runtime_error{"secret"};
           })
      .get("/before-the-task", []() -> task<std::string> { throw std::runtime_error{"secret"}; })
      .get("/good", [] { return "good"; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (const char* path : {"/sync", "/odd", "/async", "/before-the-task"}) {
      const http_reply answer = co_await client.ask("GET", path);
      EXPECT_EQ(answer.status, 500) << path;
      EXPECT_EQ(answer.body.find("secret"), std::string::npos) << "what failed is for the log";
      EXPECT_EQ((co_await client.ask("GET", "/good")).body, "good");
    }
  });
}

TEST_P(handler_test, stays_where_it_is_while_routes_are_added) {
  event_loop& turning = loop();
  std::string kept(100, 'k');  // not const, so that moving the handler would move it
  http().get("/slow", [&turning, kept]() -> task<std::string> {
    for (int i = 0; i < 20; ++i) co_await yield{turning};
    co_return kept;
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    while (http().requests() == 0) co_await yield{turning};
    for (int i = 0; i < 100; ++i) http().get("/more/" + std::to_string(i), [] { return "more"; });
    EXPECT_EQ((co_await client.reply()).body, kept);
    EXPECT_EQ((co_await client.ask("GET", "/more/99")).body, "more");
  });
}

}  // namespace
}  // namespace weft::http
