#include <weft/http/decompress.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <weft/http/coded_test_texts_test.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;

struct letter {
  std::string text;
};

constexpr std::array request_codings = {content_coding::gzip, content_coding::deflate,
                                        content_coding::br, content_coding::zstd};

std::string coding_field(std::string_view names) {
  return "Content-Encoding: " + std::string{names} + "\r\n";
}

class decompress_test : public testing::each_backend {
 protected:
  void serve_all(const decompress_options& options = {}) {
    http().wrap_all(decompress{options});
    http().post("/whole", [](const request& asked) { return std::string{asked.body()}; });
    http().post("/typed", [](letter given) { return given.text; });
    http().post("/pieces", [](body_reader& body) -> task<result<std::string>> {
      std::string all;
      EXPECT_FALSE(body.length());
      while (auto piece = co_await body.read()) all += *piece;
      if (auto whole = body.outcome(); !whole) co_return fail(whole.error());
      EXPECT_EQ(body.given_bytes(), all.size());
      co_return all;
    });
    http().post("/ignored", [](body_reader&) -> task<std::string> { co_return "not asked"; });
  }
};
INSTANTIATE_TEST_SUITE_P(on, decompress_test, backends, backend_name);

TEST_P(decompress_test, gives_handlers_the_plain_body) {
  serve_all();
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (const content_coding each : request_codings) {
      const std::string field = coding_field(to_string(each));
      for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, std::size_t{300'000}}) {
        const std::string text = prose(size);
        const std::string coded = encoded(text, each);
        for (const std::string_view target : {"/whole", "/pieces"}) {
          const auto reply = co_await client.ask("POST", target, coded, field);
          EXPECT_EQ(reply.status, 200) << field << target << size;
          EXPECT_TRUE(reply.body == text) << field << target << size;
        }
        EXPECT_EQ((co_await client.ask("POST", "/ignored", coded, field)).status, 200);
      }
      const auto typed =
          co_await client.ask("POST", "/typed", encoded(R"({"text":"hello"})", each), field);
      EXPECT_EQ(typed.body, "hello");
      EXPECT_EQ((co_await client.ask("POST", "/whole", "as it is")).body, "as it is");
    }
  });
}

TEST_P(decompress_test, takes_chunks_and_two_codings_one_over_the_other) {
  serve_all();
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const std::string text = prose(40'000);
    for (const content_coding first : request_codings) {
      for (const content_coding second : request_codings) {
        const std::string coded = encoded(encoded(text, first), second);
        const std::string field = coding_field(std::string{to_string(first)} + ", identity, " +
                                               std::string{to_string(second)});
        for (const std::string_view target : {"/whole", "/pieces"})
          EXPECT_TRUE((co_await client.ask("POST", target, coded, field)).body == text) << field;
      }
    }
    const std::string coded = encoded(text, content_coding::gzip);
    for (const std::string_view target : {"/whole", "/pieces"}) {
      std::string chunks;
      for (std::string_view rest = coded; !rest.empty();) {
        const std::string_view piece = rest.substr(0, 7);
        chunks += std::to_string(piece.size()) + "\r\n" + std::string{piece} + "\r\n";
        rest.remove_prefix(piece.size());
      }
      co_await client.send("POST " + std::string{target} +
                           " HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\n"
                           "Transfer-Encoding: chunked\r\n\r\n" +
                           chunks + "0\r\n\r\n");
      EXPECT_TRUE((co_await client.reply()).body == text) << target;
    }
  });
}

TEST_P(decompress_test, says_what_it_takes_instead) {
  serve_all();
  run([&]() -> task<void> {
    for (const std::string_view names : {"compress", "gzip, gzip, gzip", "gzip;q=1", "br, rot13"}) {
      for (const std::string_view target : {"/whole", "/pieces"}) {
        auto client = co_await world().connect();
        const auto reply = co_await client.ask("POST", target, "x", coding_field(names));
        EXPECT_EQ(reply.status, 415) << names;
        EXPECT_EQ(reply.field("Accept-Encoding"), "br, zstd, gzip, deflate");
      }
    }
  });
}

TEST_P(decompress_test, refuses_what_is_cut_broken_or_goes_on) {
  serve_all();
  run([&]() -> task<void> {
    for (const content_coding each : request_codings) {
      const std::string coded = encoded(prose(20'000), each);
      for (const std::string& wrong : {coded.substr(0, coded.size() - 1), coded.substr(0, 1),
                                       coded + "x", "x" + coded, std::string{"plain text"}}) {
        for (const std::string_view target : {"/whole", "/pieces"}) {
          auto client = co_await world().connect();
          EXPECT_EQ(
              (co_await client.ask("POST", target, wrong, coding_field(to_string(each)))).status,
              400)
              << to_string(each) << target << wrong.size();
        }
      }
    }
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("POST", "/whole", {}, coding_field("gzip"))).status, 200)
        << "nothing at all is nothing";
  });
}

TEST_P(decompress_test, refuses_a_bomb) {
  serve_all();
  const std::string bomb(64 * 1024 * 1024, '\0');
  run([&]() -> task<void> {
    for (const content_coding each : request_codings) {
      const std::string coded = encoded(bomb, each);
      for (const std::string_view target : {"/whole", "/pieces"}) {
        auto client = co_await world().connect();
        const auto reply =
            co_await client.ask("POST", target, coded, coding_field(to_string(each)));
        EXPECT_EQ(reply.status, 413) << to_string(each) << target << coded.size();
      }
    }
    // A bomb within another.
    const std::string twice = encoded(encoded(bomb, content_coding::gzip), content_coding::gzip);
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("POST", "/whole", twice, coding_field("gzip, gzip"))).status,
              413);
  });
}

TEST_P(decompress_test, keeps_to_the_limit_of_the_route) {
  http().wrap_all(decompress{});
  http().within({.body_bytes = 2000}).post("/", [](const request& asked) {
    return std::to_string(asked.body().size());
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const auto ask = [&](std::size_t size) -> task<testing::http_reply> {
      const std::string coded = encoded(prose(size), content_coding::gzip);
      co_return co_await client.ask("POST", "/", coded, coding_field("gzip"));
    };
    EXPECT_EQ((co_await ask(2000)).body, "2000");
    EXPECT_EQ((co_await ask(2001)).status, 413);
  });
}

TEST_P(decompress_test, keeps_no_more_decoders_than_it_may) {
  serve_all({.at_once = 1});
  run([&]() -> task<void> {
    const std::string coded = encoded(prose(1000), content_coding::gzip);
    auto slow = co_await world().connect();
    co_await slow.send(
        "POST /pieces HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: " +
        std::to_string(coded.size()) + "\r\n\r\n" + coded.substr(0, 10));
    co_await world().sleep(std::chrono::milliseconds{20});
    auto other = co_await world().connect();
    const auto refused = co_await other.ask("POST", "/whole", coded, coding_field("gzip"));
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.field("Retry-After"), "1");
    co_await slow.send(coded.substr(10));
    EXPECT_EQ((co_await slow.reply()).body, prose(1000));
    EXPECT_EQ((co_await other.ask("POST", "/whole", coded, coding_field("gzip"))).status, 200);
  });
}

TEST_P(decompress_test, does_not_decode_for_nobody) {
  http().wrap_all(decompress{});
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("POST", "/nowhere", "x", coding_field("gzip"))).status, 404);
  });
}

}  // namespace
}  // namespace weft::http
