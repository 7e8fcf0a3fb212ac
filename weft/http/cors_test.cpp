#include <weft/http/cors.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <weft/http/request_parser.hpp>
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

}  // namespace
}  // namespace weft::http
