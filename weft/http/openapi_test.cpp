#include <weft/http/openapi.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/http/openapi_page.hpp>
#include <weft/testing/http_fixture.hpp>

namespace told_shop {

struct item {
  std::string title;
  std::optional<double> price;
};
struct key {
  std::uint8_t id;
  static constexpr weft::json::description descriptions[] = {{"id", "Of the item"}};
};
struct numbered {
  std::int8_t number;
};
enum class sorting : std::uint8_t { oldest, newest };
struct search {
  std::string word;
  std::optional<sorting> sort;
  std::vector<double> above;
  static constexpr auto bounds() { return weft::bounds(weft::within<&search::above>(0, 1.5)); }
};

}  // namespace told_shop

namespace weft::http {
namespace {

using testing::http_reply;

class openapi_test : public testing::in_memory {
 protected:
  [[nodiscard]] std::string document() { return openapi_document({.title = "t"}, http().routes()); }
  /// Whether it stands in the document.
  void expect_part(std::string_view part) {
    const std::string text = document();
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
  }
};

constexpr std::string_view problem_reply =
    R"("content":{"application/problem+json":{"schema":{"$ref":)"
    R"("#/components/schemas/problem_document"}}})";

TEST_F(openapi_test, says_which_routes_want_an_api_key) {
  http().get("/open", [] { return std::string{}; });
  EXPECT_EQ(document().find("securitySchemes"), std::string::npos);
  for (const char* const path : {"/a", "/b"})
    http().get(path, described([] { return std::string{}; }, {.key_header = "X-API-KEY"}));
  expect_part(R"("operationId":"get_a","security":[{"X-API-KEY":[]}],)");
  expect_part(R"("operationId":"get_b","security":[{"X-API-KEY":[]}],)");
  expect_part(R"("operationId":"get_open","responses")");
  expect_part(
      R"(,"securitySchemes":{"X-API-KEY":{"type":"apiKey","in":"header","name":"X-API-KEY"}}}})");
}

TEST_F(openapi_test, says_what_a_typed_route_takes_and_gives) {
  http().put("/items/{id}",
             described([](http::path<told_shop::key>,
                          told_shop::item sent) -> result<told_shop::item> { return sent; },
                       {.summary = "Changes an item",
                        .description = "As *sent*",
                        .tags = {"items"},
                        .errors = {status::not_found},
                        .deprecated = true}));
  expect_part(
      R"("paths":{"/items/{id}":{"put":{"operationId":"put_items_by_id",)"
      R"("summary":"Changes an item",)"
      R"("description":"As *sent*","tags":["items"],"deprecated":true,)"
      R"("parameters":[{"name":"id","in":"path","description":"Of the item","required":true,)"
      R"("schema":{"type":"integer","minimum":0,"maximum":255}}],)"
      R"("requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":)"
      R"("#/components/schemas/item"}}}},"responses":{"200":{"description":"OK","content":)"
      R"({"application/json":{"schema":{"$ref":"#/components/schemas/item"}}}},"400":{)"
      R"("description":"Bad Request",)");
  expect_part(R"("404":{"description":"Not Found",)" + std::string{problem_reply} + "}");
  expect_part(R"("default":{"description":"An error, such as 408, 413 or 503",)" +
              std::string{problem_reply} + "}");
  expect_part(R"("item":{"type":"object","properties":{"title":{"type":"string"},)"
              R"("price":{"type":["number","null"]}},"required":["title"],)");
  expect_part(
      R"x("problem_document":{"type":"object","description":"What went wrong (RFC 9457)",)x");
}

TEST_F(openapi_test, has_the_parameters_of_a_query) {
  http().get("/items",
             [](http::query<told_shop::search>) -> std::vector<told_shop::item> { return {}; });
  expect_part(R"("parameters":[{"name":"word","in":"query","required":true,"schema":{)"
              R"("type":"string"}},{"name":"sort","in":"query","schema":{"type":"string",)"
              R"("enum":["oldest","newest"]}},{"name":"above","in":"query","schema":{)"
              R"("type":"array","items":{"type":"number","minimum":0,"maximum":1.5}}}])");
}

TEST_F(openapi_test, knows_every_kind_of_reply) {
  http()
      .get("/nothing", [] {})
      .get("/text", []() -> task<std::string> { co_return ""; })
      .get("/own", [] { return response{}; })
      .get("/stream", [](body_writer&) -> task<void> { co_return; })
      .post("/items", [](told_shop::item i) { return created<told_shop::item>{std::move(i), "/"}; })
      .get("/said",
           described([] { return response{}; },
                     {.replies = {{status::accepted, "Later", &json::shape_of<told_shop::item>},
                                  {status::see_other}}}))
      .put("/upload", [](body_reader&) -> task<void> { co_return; });
  expect_part(R"("get_nothing","responses":{"204":{"description":"No Content"},"default":)");
  expect_part(R"("get_text","responses":{"200":{"description":"OK","content":{)"
              R"("text/plain; charset=utf-8":{}}},"default":{"description":"An)");
  const std::string_view any = R"(","responses":{"default":{"description":"What the handler )"
                               R"(replies","content":{"*/*":{}}}}})";
  expect_part("get_own" + std::string{any});
  expect_part("get_stream" + std::string{any});
  expect_part(R"("201":{"description":"Created","headers":{"Location":{"description":"Where it )"
              R"(is","required":true,"schema":{"type":"string"}}},"content":{"application/json":)");
  expect_part(
      R"("responses":{"202":{"description":"Later","content":{"application/json":{)"
      R"("schema":{"$ref":"#/components/schemas/item"}}}},"303":{"description":"See Other"},)");
  expect_part(R"("put_upload","requestBody":{"content":{"*/*":{}}},"responses":{"204")");
}

TEST_F(openapi_test, says_of_a_handler_that_takes_the_exchange_what_it_is_told) {
  http().post("/items/{id}",
              described([](exchange& e) { e.reply(status::ok, {}, {}); },
                        {.errors = {status::bad_request},
                         .replies = {{status::ok, "Kept", &json::shape_of<told_shop::item>},
                                     {status::ok, {}, nullptr, "text/csv"},
                                     {status::bad_request, {}, nullptr, "text/plain"}},
                         .body = &json::shape_of<told_shop::item>,
                         .example = R"({"title":"Tea"})"}));
  expect_part(
      R"("parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string",)"
      R"("minLength":1}}],"requestBody":{"required":true,"content":{"application/json":{"schema":{)"
      R"("$ref":"#/components/schemas/item"},"example":{"title":"Tea"}}}},)"
      R"("responses":{"200":{"description":"Kept","content":{)"
      R"("application/json":{"schema":{"$ref":"#/components/schemas/item"}},"text/csv":{}}},)"
      R"("400":{"description":"Bad Request","content":{"text/plain":{},)"
      R"("application/problem+json":)");
}

TEST_F(openapi_test, takes_routes_that_differ_in_names_for_one_path) {
  http()
      .get("/a/{id}", [] { return ""; })
      .put("/a/{number}", [](http::path<told_shop::numbered>) { return ""; })
      .get("/b/{one}", [] { return ""; })
      .get("/b/{*rest}", [] { return ""; });
  expect_part(R"("/a/{id}":{"get":{"operationId":"get_a_by_id","parameters":[{"name":"id",)"
              R"("in":"path","required":true,"schema":{"type":"string","minLength":1}}],)");
  expect_part(R"(,"put":{"operationId":"put_a_by_number","parameters":[{"name":"id","in":"path",)"
              R"("required":true,"schema":{"type":"integer","minimum":-128,"maximum":127}}],)");
  expect_part(R"("/b/{one}":{"get":)");
  EXPECT_EQ(document().find("/b/{rest}"), std::string::npos);
}

TEST_F(openapi_test, does_not_tell_of_hidden_routes_and_is_the_same_in_any_order) {
  lifetime own{"a service"};
  const auto add = [&](std::string_view path) { http().get(path, [] { return ""; }, &own); };
  add("/a");
  add("/b/{x}");
  const std::string one = document();
  own.request_end();
  lifetime other{"another"};
  http().get("/b/{x}", [] { return ""; }, &other);
  http().get("/a", [] { return ""; }, &other);
  http().get("/secret", described([] { return ""; }, {.hidden = true}), &other);
  EXPECT_EQ(document(), one);
  other.request_end();
}

TEST_F(openapi_test, names_operations_once_each) {
  http()
      .get("/a-b", [] { return ""; })
      .get("/a.b", [] { return ""; })
      .get("/c", described([] { return ""; }, {.operation_id = "sea"}));
  expect_part(R"("operationId":"get_a_b")");
  expect_part(R"("operationId":"get_a_b_2")");
  expect_part(R"("operationId":"sea")");
}

TEST_F(openapi_test, is_served_with_a_tag_until_the_routes_change) {
  const openapi_page page{{.title = "Shop", .version = "2"}, http()};
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const http_reply first = co_await client.ask("GET", "/openapi.json");
    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(first.field("content-type"), "application/json");
    EXPECT_EQ(
        first.body.find(R"({"openapi":"3.1.0","info":{"title":"Shop","version":"2"},"paths":{},)"),
        0U)
        << first.body;
    const std::string known = "If-None-Match: " + std::string{*first.field("etag")} + "\r\n";
    EXPECT_EQ((co_await client.ask("GET", "/openapi.json", {}, known)).status, 304);
    http().get("/more", [] { return ""; });
    const http_reply later = co_await client.ask("GET", "/openapi.json", {}, known);
    EXPECT_EQ(later.status, 200);
    EXPECT_NE(later.body.find("/more"), std::string::npos);
    EXPECT_NE(later.field("etag"), first.field("etag"));
  });
}

}  // namespace
}  // namespace weft::http
