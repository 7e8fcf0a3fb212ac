#include <weft/http/route_group.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::backend_name;
using testing::backends;
using testing::each_backend;
using testing::http_reply;
using testing::in_memory;

class route_group_test : public each_backend {};
INSTANTIATE_TEST_SUITE_P(on, route_group_test, backends, backend_name);

TEST_P(route_group_test, has_paths_below_its_prefix) {
  auto shop = http().group("/shop");
  shop.get("/orders/{id}", [](const request& r) { return std::string{*r.parameter("id")}; });
  shop.group("/{branch}/files").put("/{*path}", [](const request& r) {
    return weft::format("{} {}", *r.parameter("branch"), *r.parameter("path"));
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/shop/orders/17")).body, "17");
    EXPECT_EQ((co_await client.ask("PUT", "/shop/rome/files/a/b")).body, "rome a/b");
    EXPECT_EQ((co_await client.ask("GET", "/orders/17")).status, 404);
    const http_reply refused = co_await client.ask("DELETE", "/shop/orders/17");
    EXPECT_EQ(refused.status, 405);
    EXPECT_EQ(refused.field("Allow"), "GET, HEAD, OPTIONS");
    EXPECT_EQ((co_await client.ask("OPTIONS", "/shop/orders/17")).field("Allow"),
              "GET, HEAD, OPTIONS");
    EXPECT_EQ((co_await client.ask("HEAD", "/shop/orders/17")).field("Content-Length"), "2");
  });
}

TEST_P(route_group_test, names_the_whole_path_of_a_route_that_is_wrong) {
  auto shop = http().group("/shop");
  shop.get("/a", [] {});
  try {
    shop.get("/a", [] {});
    FAIL() << "a route was added twice";
  } catch (const std::invalid_argument& why) {
    EXPECT_NE(std::string_view{why.what()}.find("/shop/a"), std::string_view::npos) << why.what();
  }
}

TEST_P(route_group_test, takes_longer_or_shorter_bodies_than_its_server) {
  serve_within({.body_bytes = 1'000});
  const auto size = [](const request& r) { return r.body().size(); };
  http().post("/default", size);
  http().within({.body_bytes = 100'000}).post("/more", size);
  http().within({.body_bytes = 10}).post("/less", size);
  http().within({.body_bytes = 10}).post("/stream", [](body_reader& body) -> task<void> {
    while (co_await body.read()) {}
  });
  run([&]() -> task<void> {
    struct expectation {
      const char* path;
      std::size_t bytes;
      int status;
    };
    for (const expectation& each : {expectation{"/default", 1'000, 200},
                                    {"/default", 1'001, 413},
                                    {"/more", 100'000, 200},
                                    {"/more", 100'001, 413},
                                    {"/less", 10, 200},
                                    {"/less", 11, 413},
                                    {"/less", 900, 413},
                                    {"/less", 50'000, 413},
                                    {"/stream", 10, 204},
                                    {"/stream", 11, 413},
                                    {"/nowhere", 1'001, 413}}) {
      auto client = co_await world().connect();
      const http_reply whole = co_await client.ask("POST", each.path, std::string(each.bytes, 'b'));
      EXPECT_EQ(whole.status, each.status) << each.path << each.bytes;
      auto other = co_await world().connect();
      co_await other.send(
          weft::format("POST {} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
                       "chunked\r\n\r\n{:x}\r\n{}\r\n0\r\n\r\n",
                       each.path, each.bytes, std::string(each.bytes, 'b')));
      EXPECT_EQ((co_await other.reply()).status, each.status) << each.path << each.bytes;
    }
  });
}

TEST_P(route_group_test, wraps_handlers_from_the_outside_in) {
  std::string order;
  const auto note = [&order](char before, char after) {
    return [&order, before, after](exchange& e, handler& next) {
      order += before;
      next(e);
      order += after;
    };
  };
  auto outer = http().wrap(note('a', 'z'));
  outer.wrap(note('b', 'y')).get("/both", [&] {
    order += "-";
    return "both";
  });
  outer.get("/one", [] { return "one"; });
  http().get("/none", [] { return "none"; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (int i = 0; i < 2; ++i) {
      order.clear();
      EXPECT_EQ((co_await client.ask("GET", "/both")).body, "both");
      EXPECT_EQ(order, "ab-yz");
      EXPECT_EQ((co_await client.ask("GET", "/one")).body, "one");
      EXPECT_EQ((co_await client.ask("GET", "/none")).body, "none");
      EXPECT_EQ(order, "ab-yzaz");
    }
  });
}

TEST_P(route_group_test, replies_before_the_handler_where_it_wants_to) {
  bool was_called = false;
  auto guarded = http().wrap([](exchange& e, handler& next) {
    if (e.request().header("authorization")) return next(e);
    e.reply_problem(status::unauthorized, "say who you are");
  });
  guarded.post("/whole", [&](const request& r) {
    was_called = true;
    return r.body().size();
  });
  guarded.post("/stream", [&](body_reader& body) -> task<std::string> {
    was_called = true;
    while (co_await body.read()) {}
    co_return std::to_string(body.given_bytes());
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (const char* path : {"/whole", "/stream"}) {
      for (const std::size_t size : {10U, 20'000U}) {
        was_called = false;
        const std::string body(size, 'b');
        EXPECT_EQ((co_await client.ask("POST", path, body)).status, 401) << path << size;
        EXPECT_FALSE(was_called);
        const http_reply answer = co_await client.ask("POST", path, body, "Authorization: me\r\n");
        EXPECT_EQ(answer.body, std::to_string(size)) << path << size;
      }
    }
  });
}

TEST_P(route_group_test, adds_fields_to_what_others_reply) {
  auto marked = http().wrap([](exchange& e, handler& next) {
    EXPECT_TRUE(e.add_field("X-Frame-Options", "DENY").has_value());
    EXPECT_EQ(e.add_field("X-Bad", "a\r\nb").error(), errc::invalid_argument);
    EXPECT_EQ(e.add_field("Content-Length", "7").error(), errc::invalid_argument);
    next(e);
  });
  marked.get("/text", [] { return "text"; });
  marked.get("/response", [] {
    response made = response::text("made");
    EXPECT_TRUE(made.add_field("X-Own", "1").has_value());
    return made;
  });
  marked.get("/stream", [](body_writer& out) -> task<result<void>> {
    out.start({status::ok, text_plain, {}}, 2);
    co_return co_await out.write("ab");
  });
  http().get("/plain", [] { return "plain"; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (const char* path : {"/text", "/response", "/stream"}) {
      const http_reply answer = co_await client.ask("GET", path);
      EXPECT_EQ(answer.field("X-Frame-Options"), "DENY") << path;
      EXPECT_FALSE(answer.field("X-Bad").has_value());
    }
    EXPECT_EQ((co_await client.ask("GET", "/response")).field("X-Own"), "1");
    EXPECT_FALSE((co_await client.ask("GET", "/plain")).field("X-Frame-Options").has_value());
  });
}

TEST_P(route_group_test, waits_for_handlers_that_wait) {
  std::vector<std::string> seen;
  const auto watch = [&](exchange& e, handler& next) -> task<void> {
    EXPECT_FALSE(e.replied_with().has_value());
    co_await e.run(next);
    seen.push_back(weft::format("{} {}", e.request().path(),
                                static_cast<unsigned>(e.replied_with().value_or(status{}))));
  };
  auto watched = http().wrap(watch).wrap(watch);
  watched.get("/now", [] { return "now"; });
  watched.get("/late", [&]() -> task<result<std::string>> {
    for (int i = 0; i < 3; ++i) co_await yield{loop()};
    co_return fail(errc::not_found);
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (int i = 0; i < 2; ++i) {
      seen.clear();
      EXPECT_EQ((co_await client.ask("GET", "/now")).body, "now");
      EXPECT_EQ((co_await client.ask("GET", "/late")).status, 404);
      EXPECT_EQ(seen, (std::vector<std::string>{"/now 200", "/now 200", "/late 404", "/late 404"}));
    }
  });
}

TEST_P(route_group_test, lets_exceptions_pass_or_be_caught) {
  auto caught = http().wrap([](exchange& e, handler& next) -> task<void> {
    try {
      co_await e.run(next);
    } catch (const std::runtime_error&) {
      e.reply_problem(status::bad_gateway, "the other side failed");
    }
  });
  const auto late = [&]() -> task<std::string> {
    co_await yield{loop()};
    throw std::runtime_error{"as asked"};
  };
  const auto now = []() -> std::string { throw std::runtime_error{"as asked"}; };
  caught.get("/late", late).get("/now", now);
  http().wrap([](exchange& e, handler& next) { next(e); }).get("/passed", now);
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/late")).status, 502);
    EXPECT_EQ((co_await client.ask("GET", "/now")).status, 502);
    EXPECT_EQ((co_await client.ask("GET", "/passed")).status, 500);
  });
}

class route_group_in_memory : public in_memory {};

TEST_F(route_group_in_memory, gives_handlers_a_time_of_their_own) {
  const auto sleep = [&]() -> task<result<std::string>> {
    const auto slept = co_await sleep_for(loop(), seconds{40});
    if (!slept) co_return fail(slept.error());
    co_return "slept";
  };
  http().get("/default", sleep);
  http().within({.handler_timeout = seconds{60}}).get("/patient", sleep);
  http()
      .within({.body_bytes = 10, .handler_timeout = seconds{60}})
      .within({.handler_timeout = seconds{2}})
      .get("/hasty", sleep);
  run([&]() -> task<void> {
    const auto ask = [&](std::string path, int status, duration after) -> task<void> {
      auto client = co_await world().connect();
      const time_point began = loop().now();
      EXPECT_EQ((co_await client.ask("GET", path)).status, status) << path;
      EXPECT_GE(loop().now() - began, after) << path;
      EXPECT_LT(loop().now() - began, after + milliseconds{10}) << path;
    };
    co_await ask("/default", 503, seconds{30});
    co_await ask("/patient", 200, seconds{40});
    co_await ask("/hasty", 503, seconds{2});
  });
}

}  // namespace
}  // namespace weft::http
