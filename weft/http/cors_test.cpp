#include <weft/http/cors.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/http/request_parser.hpp>
#include <weft/testing/http2_client.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

std::string decided(const cors& rules, std::string_view asked, std::string_view fields) {
  const std::string input =
      std::string{asked} + " / HTTP/1.1\r\nHost: a\r\n" + std::string{fields} + "\r\n";
  const auto head = std::make_unique<parsed_head>();
  request_parser parser;
  EXPECT_EQ(parser.parse(input, *head, limits{}), parse_status::complete) << input;
  const cors_decision said = rules.decide(head->method(), head->headers());
  constexpr std::string_view kinds[] = {"none", "actual", "preflight", "denied"};
  std::string text{kinds[static_cast<std::size_t>(said.kind())]};
  for (const auto& [name, value] : said.fields())
    text.append("\n").append(name).append(": ").append(value);
  return text;
}

TEST(cors, named_origins_with_credentials) {
  const auto rules = cors::make({.origins = {"https://app.example", "http://[::1]:8080"},
                                 .methods = {method::put, method::delete_},
                                 .request_headers = {"Content-Type", "X-Token"},
                                 .exposed_headers = {"ETag"},
                                 .credentials = true,
                                 .max_age_seconds = 60});
  ASSERT_TRUE(rules);
  EXPECT_EQ(decided(*rules, "GET", ""), "none\nVary: Origin");
  EXPECT_EQ(decided(*rules, "GET", "Origin: https://app.example\r\n"),
            "actual\nVary: Origin\nAccess-Control-Allow-Origin: https://app.example\n"
            "Access-Control-Allow-Credentials: true\nAccess-Control-Expose-Headers: ETag");
  EXPECT_EQ(decided(*rules, "OPTIONS",
                    "Origin: http://[::1]:8080\r\nAccess-Control-Request-Method: PUT\r\n"),
            "preflight\nVary: Origin\nAccess-Control-Allow-Origin: http://[::1]:8080\n"
            "Access-Control-Allow-Credentials: true\nAccess-Control-Allow-Methods: PUT, DELETE\n"
            "Access-Control-Allow-Headers: Content-Type, X-Token\nAccess-Control-Max-Age: 60");
  EXPECT_TRUE(decided(*rules, "OPTIONS", "Origin: https://app.example\r\n").starts_with("actual"));
}

TEST(cors, other_origins_are_denied) {
  const auto rules = cors::make({.origins = {"https://app.example"}});
  ASSERT_TRUE(rules);
  for (std::string_view origin :
       {"https://app.example.evil.net", "https://evil.net", "http://app.example",
        "https://app.example:443", "https://app.example/", "https://APP.example", "null", "",
        "https://app.example https://evil.net", "https://sub.app.example"})
    EXPECT_EQ(decided(*rules, "GET", "Origin: " + std::string{origin} + "\r\n"),
              "denied\nVary: Origin")
        << origin;
  EXPECT_EQ(decided(*rules, "GET", "Origin: https://app.example\r\nOrigin: https://evil.net\r\n"),
            "denied\nVary: Origin");
  EXPECT_EQ(decided(*rules, "OPTIONS",
                    "Origin: https://evil.net\r\nAccess-Control-Request-Method: PUT\r\n"),
            "denied\nVary: Origin");
}

TEST(cors, any_origin_without_credentials) {
  const auto rules = cors::make({.origins = {"*"}});
  ASSERT_TRUE(rules);
  EXPECT_EQ(decided(*rules, "GET", ""), "none");
  EXPECT_EQ(decided(*rules, "GET", "Origin: null\r\n"), "actual\nAccess-Control-Allow-Origin: *");
  EXPECT_EQ(
      decided(*rules, "OPTIONS", "Origin: http://a\r\nAccess-Control-Request-Method: GET\r\n"),
      "preflight\nAccess-Control-Allow-Origin: *\nAccess-Control-Max-Age: 600");
}

TEST(cors, a_policy_that_opens_too_much_is_refused) {
  const std::vector<cors_policy> refused = {
      {.origins = {}},
      {.origins = {"*"}, .credentials = true},
      {.origins = {"*", "https://app.example"}},
      {.origins = {"null"}},
      {.origins = {"https://app.example/"}},
      {.origins = {"https://app.example/path"}},
      {.origins = {"https://App.example"}},
      {.origins = {"https://*.example"}, .methods = {}, .request_headers = {"a b"}},
      {.origins = {"app.example"}},
      {.origins = {"://app.example"}},
      {.origins = {"https://"}},
      {.origins = {"https://app.example:"}},
      {.origins = {"https://user@app.example"}},
      {.origins = {"https://a"}, .request_headers = {"X-A, X-B"}},
      {.origins = {"https://a"}, .exposed_headers = {"*"}},
      {.origins = {"https://a"}, .exposed_headers = {"X\r\nY: z"}},
  };
  for (const cors_policy& each : refused) {
    EXPECT_FALSE(cors::fault_of(each).empty());
    EXPECT_EQ(cors::make(each).error(), errc::invalid_argument);
  }
}

class cors_around_a_server : public testing::in_memory {};

TEST_F(cors_around_a_server, answers_preflights_and_marks_replies_without_a_route_too) {
  http().put("/orders", [] { return "done"; });
  http().wrap_all(
      cors::make({.origins = {"https://app.example"}, .methods = {method::put}}).value());
  constexpr std::string_view asks =
      "Origin: https://app.example\r\nAccess-Control-Request-Method: PUT\r\n";
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const auto preflight = co_await client.ask("OPTIONS", "/orders", {}, asks);
    EXPECT_EQ(preflight.status, 204);
    EXPECT_EQ(preflight.field("Access-Control-Allow-Methods"), "PUT");
    EXPECT_FALSE(preflight.field("Allow").has_value());
    EXPECT_EQ((co_await client.ask("OPTIONS", "/orders")).field("Allow"), "PUT, OPTIONS");
    const auto missing =
        co_await client.ask("GET", "/nowhere", {}, "Origin: https://app.example\r\n");
    EXPECT_EQ(missing.status, 404);
    EXPECT_EQ(missing.field("Access-Control-Allow-Origin"), "https://app.example")
        << "so that the page may read why";
    const auto other =
        co_await client.ask("PUT", "/orders", {}, "Origin: https://evil.example\r\n");
    EXPECT_EQ(other.status, 200);
    EXPECT_FALSE(other.field("Access-Control-Allow-Origin").has_value());
    EXPECT_EQ(other.field("Vary"), "Origin");
  });
}

constexpr std::string_view of_app = "Origin: https://app.example\r\n";

cors app_policy() {
  return cors::make({.origins = {"https://app.example"},
                     .methods = {method::put},
                     .exposed_headers = {"X-Seen"},
                     .credentials = true})
      .value();
}

/// What a page of app.example may read.
void expect_readable(const testing::http_reply& reply, int status) {
  EXPECT_EQ(reply.status, status) << reply.head;
  EXPECT_EQ(reply.field("Access-Control-Allow-Origin"), "https://app.example") << reply.head;
  EXPECT_EQ(reply.field("Access-Control-Allow-Credentials"), "true") << reply.head;
  EXPECT_EQ(reply.field("Access-Control-Expose-Headers"), "X-Seen") << reply.head;
  EXPECT_EQ(reply.field("Vary"), "Origin") << reply.head;
  EXPECT_EQ(reply.head.find("Access-Control-Allow-Origin"),
            reply.head.rfind("Access-Control-Allow-Origin"))
      << "once\n"
      << reply.head;
}

TEST_F(cors_around_a_server, marks_what_no_handler_is_asked_about) {
  limits bounds;
  bounds.head_bytes = 2'000;
  bounds.body_bytes = 10;
  bounds.header_timeout = std::chrono::milliseconds{50};
  serve_within(bounds);
  http().wrap_all(app_policy());
  http().post("/", [](const request& r) { return std::string{r.body()}; });
  run([&]() -> task<void> {
    const auto ask = [&](std::string bytes) -> task<testing::http_reply> {
      auto client = co_await world().connect();
      co_await client.send(std::move(bytes));
      co_return co_await client.reply();
    };
    const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n" + std::string{of_app};
    expect_readable(co_await ask(post + "Content-Length: 11\r\n\r\n"), 413);
    expect_readable(co_await ask(post + "Transfer-Encoding: chunked\r\n\r\nff\r\n"), 413);
    expect_readable(co_await ask(post + "X: " + std::string(3'000, 'x') + "\r\n\r\n"), 431);
    expect_readable(co_await ask(post + "Host: b\r\n\r\n"), 400);
    expect_readable(co_await ask(post + "Expect: more\r\n\r\n"), 417);
    expect_readable(co_await ask(post + "X: late"), 408);
    expect_readable(
        co_await ask("GET /nowhere HTTP/1.1\r\nHost: a\r\n" + std::string{of_app} + "\r\n"), 404);
    expect_readable(co_await ask("PUT / HTTP/1.1\r\nHost: a\r\n" + std::string{of_app} + "\r\n"),
                    405);
    for (const std::string_view other : {"Origin: https://evil.example\r\n",
                                         "Origin: https://app.example\r\nOrigin: null\r\n", ""}) {
      const auto reply = co_await ask("POST / HTTP/1.1\r\nHost: a\r\n" + std::string{other} +
                                      "Content-Length: 11\r\n\r\n");
      EXPECT_EQ(reply.status, 413);
      EXPECT_FALSE(reply.field("Access-Control-Allow-Origin").has_value()) << reply.head;
      EXPECT_EQ(reply.field("Vary"), "Origin");
    }
    const auto hidden = co_await ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n" +
                                     std::string{of_app});
    EXPECT_FALSE(hidden.field("Access-Control-Allow-Origin").has_value()) << "behind the head";
  });
}

TEST_F(cors_around_a_server, marks_replies_to_connections_beyond_the_limit) {
  limits bounds;
  bounds.connections = 1;
  serve_within(bounds);
  http().wrap_all(app_policy());
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    auto first = co_await world().connect();
    EXPECT_EQ((co_await first.ask("GET", "/")).status, 200);
    auto second = co_await world().connect();
    expect_readable(co_await second.ask("GET", "/", {}, of_app), 503);
    auto silent = co_await world().connect();
    const auto told = co_await silent.reply();
    EXPECT_EQ(told.status, 503) << "who says nothing hears it, too";
    EXPECT_EQ(told.field("Vary"), "Origin");
  });
}

TEST_F(cors_around_a_server, marks_what_no_handler_is_asked_about_over_http2) {
  limits bounds;
  bounds.head_bytes = 2'000;
  bounds.body_bytes = 10;
  serve_within(bounds);
  http().wrap_all(app_policy());
  http().post("/", [](const request& r) { return std::string{r.body()}; });
  run([&]() -> task<void> {
    testing::http2_client client{std::move((co_await world().connect()).stream())};
    const std::string long_text(3'000, 'x');
    const auto too_large = co_await client.ask("POST", "/", "more than ten bytes",
                                               {{"origin", "https://app.example"}});
    EXPECT_EQ(too_large.status, 413);
    EXPECT_EQ(too_large.field("access-control-allow-origin"), "https://app.example");
    EXPECT_EQ(too_large.field("vary"), "Origin");
    const auto too_long =
        co_await client.ask("GET", "/", {}, {{"origin", "https://app.example"}, {"x", long_text}});
    EXPECT_EQ(too_long.status, 431);
    EXPECT_EQ(too_long.field("access-control-allow-origin"), "https://app.example");
    const auto other = co_await client.ask("POST", "/", "more than ten bytes",
                                           {{"origin", "https://evil.example"}});
    EXPECT_EQ(other.status, 413);
    EXPECT_FALSE(other.field("access-control-allow-origin").has_value());
  });
}

TEST_F(cors_around_a_server, of_a_group_marks_what_is_refused_on_its_paths) {
  limits bounds;
  bounds.body_bytes = 10;
  serve_within(bounds);
  http().group("/api").wrap(app_policy()).post("/orders", [](const request& r) {
    return std::string{r.body()};
  });
  http()
      .group("/api")
      .within({.body_bytes = 20})
      .wrap(app_policy())
      .post("/files", [](const request& r) { return std::string{r.body()}; });
  http().post("/own", [](const request& r) { return std::string{r.body()}; });
  run([&]() -> task<void> {
    const std::string body(30, 'x');
    for (const std::string_view path : {"/api/orders", "/api/files"}) {
      auto client = co_await world().connect();
      expect_readable(co_await client.ask("POST", path, body, of_app), 413);
      auto other = co_await world().connect();
      expect_readable(co_await other.ask("GET", path, {}, of_app), 405);
      const auto preflight = co_await other.ask(
          "OPTIONS", path, {}, std::string{of_app} + "Access-Control-Request-Method: PUT\r\n");
      EXPECT_EQ(preflight.status, 204);
      EXPECT_EQ(preflight.field("Access-Control-Allow-Methods"), "PUT") << preflight.head;
    }
    auto client = co_await world().connect();
    const auto own = co_await client.ask("POST", "/own", body, of_app);
    EXPECT_EQ(own.status, 413);
    EXPECT_FALSE(own.field("Access-Control-Allow-Origin").has_value());
  });
}

TEST_F(cors_around_a_server, marks_what_middlewares_inside_refuse) {
  http().wrap_all(app_policy());
  http().wrap_all(
      [](exchange& e, handler&) { e.reply_problem(status::unauthorized, "say who you are"); });
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    expect_readable(co_await client.ask("GET", "/", {}, of_app), 401);
  });
}

}  // namespace
}  // namespace weft::http
