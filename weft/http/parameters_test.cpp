#include <weft/http/parameters.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <weft/loop/sleep.hpp>
#include <weft/testing/http_fixture.hpp>

namespace asked_shop {

enum class sorting : std::uint8_t { oldest, newest };

struct key {
  std::int64_t id;
};
struct dated {
  std::string name;
  std::uint16_t year;
};
struct rest {
  std::string path;
};
struct search {
  std::string word;
  std::optional<std::uint32_t> limit;
  std::optional<sorting> sort;
  std::optional<double> above;
  std::optional<int> floor;
  std::vector<std::string> tag;
  std::optional<bool> sold;

  static constexpr auto bounds() {
    return weft::bounds(weft::within<&search::limit>(1, 100),
                        weft::within<&search::above>(-1.5, 9.5),
                        weft::within<&search::floor>(-3, -1));
  }
};
struct item {
  std::string title;
};
enum class grade : std::int16_t { unknown = -1, plain = 0, fine = 300 };
/// Of the least and the most that their types have.
struct extremes {
  std::optional<std::uint64_t> grains;
  std::optional<float> share;
  std::optional<grade> of;
  static constexpr auto bounds() {
    return weft::bounds(weft::at_least<&extremes::grains>(18446744073709551614U),
                        weft::within<&extremes::share>(0.1F, 0.3F));
  }
};

std::string shown(const search& s) {
  std::string text = s.word;
  if (s.limit) text += " limit " + std::to_string(*s.limit);
  if (s.sort) text += *s.sort == sorting::newest ? " newest" : " oldest";
  if (s.above) text += " above " + std::to_string(*s.above);
  if (s.sold) text += *s.sold ? " sold" : " unsold";
  for (const std::string& each : s.tag) text += " #" + each;
  return text;
}

}  // namespace asked_shop

namespace weft::http {
namespace {

using testing::http_reply;

class parameters_test : public testing::in_memory {
 protected:
  struct expectation {
    std::string_view path;
    int status;
    std::string_view part;  // of the body
  };
  void expect_all(const std::vector<expectation>& all) {
    run([&]() -> task<void> {
      auto client = co_await world().connect();
      for (const expectation& each : all) {
        const http_reply answer = co_await client.ask("GET", each.path);
        EXPECT_EQ(answer.status, each.status) << each.path;
        EXPECT_NE(answer.body.find(each.part), std::string::npos) << each.path << answer.body;
        if (each.status == 400) {
          EXPECT_EQ(answer.field("content-type"), "application/problem+json");
        }
      }
    });
  }
};

TEST_F(parameters_test, of_a_path_are_read_as_their_members_are) {
  int called = 0;
  http()
      .get("/items/{id}",
           [&](http::path<asked_shop::key> at) {
             ++called;
             return std::to_string(at->id);
           })
      .get("/wines/{year}/{name}",
           [](const http::path<asked_shop::dated>& at) {
             return at->name + std::to_string(at->year);
           })
      .get("/files/{*path}", [](http::path<asked_shop::rest> at) { return at->path; });
  expect_all({
      {"/items/17", 200, "17"},
      {"/items/-9223372036854775808", 200, "-9223372036854775808"},
      {"/items/9223372036854775808", 400, R"(\"id\" is to be a whole number from -9)"},
      {"/items/seventeen", 400, "whole number"},
      {"/items/1.0", 400, "whole number"},
      {"/items/+1", 400, "whole number"},
      {"/items/1%20", 400, "whole number"},
      {"/wines/1999/Ch%C3%A2teau%20%2F%20two", 200, "Château / two1999"},
      {"/wines/65536/a", 400, "from 0 to 65535"},
      {"/wines/1/%FF", 400, R"(\"name\" is to be a text in UTF-8)"},
      {"/files/a/b%2Fc", 200, "a/b/c"},
      {"/files/", 200, ""},
  });
  EXPECT_EQ(called, 2) << "what does not fit never reaches the handler";
}

TEST_F(parameters_test, of_a_query_may_be_missing_or_many) {
  http().get("/items", [](http::query<asked_shop::search> q) { return asked_shop::shown(*q); });
  expect_all({
      {"/items?word=tea", 200, "tea"},
      {"/items?word=", 200, ""},
      {"/items?word=green+tea%21&&", 200, "green tea!"},
      {"/items?tag=a&word=tea&tag=b%26c", 200, "tea #a #b&c"},
      {"/items?word=tea&limit=100&sort=newest&sold=true", 200, "tea limit 100 newest sold"},
      {"/items?word=tea&above=-1.5", 200, "tea above -1.5"},
      {"/items", 400, R"(\"word\" is missing in the query)"},
      {"/items?limit=5", 400, R"(\"word\" is missing)"},
      {"/items?word=tea&limit=0", 400, R"(\"limit\" is to be a whole number from 1 to 100)"},
      {"/items?word=tea&limit=101", 400, "from 1 to 100"},
      {"/items?word=tea&limit=", 400, "from 1 to 100"},
      {"/items?word=tea&limit=-1", 400, "from 1 to 100"},
      {"/items?word=tea&sort=cheapest", 400, "one of oldest, newest"},
      {"/items?word=tea&sold=yes", 400, "true or false"},
      {"/items?word=tea&above=9.6", 400, "a number from -1.5 to 9.5"},
      {"/items?word=tea&floor=1", 400, "a whole number from -3 to -1"},
      {"/items?word=tea&above=nan", 400, "a number"},
      {"/items?word=tea&above=inf", 400, "a number"},
      {"/items?word=tea&word=coffee", 400, R"(\"word\" is given twice)"},
      {"/items?word=%ff", 400, R"(\"word\" is to be a text in UTF-8)"},
      {"/items?word=tea&limti=5", 400, "known are: word, limit, sort, above, floor, tag, sold"},
  });
}

TEST_F(parameters_test, have_the_bounds_and_the_names_of_their_types) {
  http().get("/all", [](http::query<asked_shop::extremes> q) {
    return std::string{q->of == asked_shop::grade::fine ? "fine" : "read"};
  });
  expect_all({
      {"/all?grains=18446744073709551614&share=0.1", 200, "read"},
      {"/all?share=0.3", 200, "read"},
      {"/all?share=0.31", 400, "a number from 0.1 to 0.3"},
      {"/all?grains=18446744073709551613", 400,
       "from 18446744073709551614 to 18446744073709551615"},
      {"/all?of=fine", 200, "fine"},
      {"/all?of=unknown", 200, "read"},
      {"/all?of=bad", 400, "one of unknown, plain, fine"},
  });
}

TEST_F(parameters_test, stand_beside_the_request_and_its_body) {
  event_loop& turning = loop();
  http().put("/items/{id}",
             [&turning](const request& r, asked_shop::item sent, http::query<asked_shop::search> q,
                        http::path<asked_shop::key> at) -> task<result<std::string>> {
               co_await yield{turning};
               co_return std::string{to_string(r.method())} + std::to_string(at->id) + q->word +
                   sent.title;
             });
  http().del("/items/{id}",
             [&turning](http::path<asked_shop::key> at, body_reader& body) -> task<std::string> {
               co_await yield{turning};
               while (co_await body.read()) {}
               co_return std::to_string(at->id) + " " + std::to_string(body.given_bytes());
             });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const std::string word(100, 'w');
    EXPECT_EQ((co_await client.ask("PUT", "/items/1?word=" + word, R"({"title":"t"})")).body,
              "PUT1" + word + "t");
    EXPECT_EQ((co_await client.ask("PUT", "/items/x?word=a", R"({"title":"t"})")).status, 400);
    EXPECT_EQ((co_await client.ask("PUT", "/items/1?word=a", "{}")).status, 400);
    EXPECT_EQ((co_await client.ask("DELETE", "/items/1", "12345")).body, "1 5");
    EXPECT_EQ((co_await client.ask("DELETE", "/items/x", "12345")).status, 400);
    EXPECT_EQ((co_await client.ask("DELETE", "/items/2", "1")).body, "2 1")
        << "the connection goes on";
  });
}

TEST_F(parameters_test, that_the_path_does_not_have_are_an_error_at_start_that_names_the_fix) {
  try {
    http().group("/shop").get("/items/{number}",
                              [](http::path<asked_shop::key> at) { return at->id; });
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& why) {
    EXPECT_STREQ(
        why.what(),
        R"("GET /shop/items/{number}": its handler takes "id" from the path, which has no )"
        R"({id}: write that into the pattern, or call the member of the http::path as )"
        R"(the pattern does)");
  }
  EXPECT_TRUE(http().routes().empty());
  http().group("/items/{id}").get("/lines/{line}", [](http::path<asked_shop::key> at) {
    return at->id;
  });
  EXPECT_EQ(http().routes().size(), 1U) << "a prefix has parameters, too";
}

TEST_F(parameters_test, a_created_thing_is_201_and_says_where_it_is) {
  http().post("/items", [](asked_shop::item sent) {
    return created<asked_shop::item>{sent, "/items/" + sent.title};
  });
  http().post("/late", [](asked_shop::item sent) -> task<result<created<asked_shop::item>>> {
    co_return created<asked_shop::item>{std::move(sent), "/late/1"};
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const http_reply made = co_await client.ask("POST", "/items", R"({"title":"t"})");
    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(made.field("location"), "/items/t");
    EXPECT_EQ(made.field("content-type"), "application/json");
    EXPECT_EQ(made.body, R"({"title":"t"})");
    EXPECT_EQ((co_await client.ask("POST", "/late", R"({"title":"t"})")).status, 201);
    EXPECT_EQ((co_await client.ask("POST", "/items", R"({"title":"\r\nX: y"})")).status, 500);
  });
}

}  // namespace
}  // namespace weft::http
