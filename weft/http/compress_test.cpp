#include <weft/http/compress.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/coro/event.hpp>
#include <weft/http/access_log.hpp>
#include <weft/http/coded_test_texts_test.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::http_reply;

constexpr std::array all_codings = {content_coding::gzip, content_coding::br, content_coding::zstd};

class compress_test : public testing::each_backend {
 protected:
  /// A reply with a length.
  task<http_reply> ask(std::string_view target, std::string_view fields,
                       std::string_view method = "GET") {
    auto client = co_await world().connect();
    co_return co_await client.ask(method, target, {}, fields);
  }
  /// Head and body as they stand, of a reply that ends its connection.
  task<http_reply> ask_for_chunks(std::string_view target, std::string_view fields) {
    auto client = co_await world().connect();
    co_await client.send("GET " + std::string{target} + " HTTP/1.1\r\nHost: a\r\n" +
                         "Connection: close\r\n" + std::string{fields} + "\r\n");
    const std::string all = co_await client.rest();
    const std::size_t end = all.find("\r\n\r\n") + 4;
    co_return http_reply{.status = 200, .head = all.substr(0, end), .body = all.substr(end)};
  }
};
INSTANTIATE_TEST_SUITE_P(on, compress_test, backends, backend_name);

TEST_P(compress_test, gives_what_the_client_likes_best) {
  const std::string text = prose(5000);
  http().wrap_all(compress{});
  http().get("/", [&] { return text; });
  run([&]() -> task<void> {
    for (const content_coding each : all_codings) {
      const std::string name{to_string(each)};
      const auto reply = co_await ask("/", "Accept-Encoding: deflate, " + name + "\r\n");
      EXPECT_EQ(reply.field("Content-Encoding"), name);
      EXPECT_EQ(reply.field("Vary"), "Accept-Encoding");
      EXPECT_LT(reply.body.size(), text.size() / 2);
      EXPECT_EQ(decoded(reply.body, each), text);
      const auto head = co_await ask("/", "Accept-Encoding: " + name + "\r\n", "HEAD");
      EXPECT_EQ(head.status, 200);
    }
    for (const std::string_view fields :
         {"", "Accept-Encoding: identity\r\n", "Accept-Encoding: x\r\n"}) {
      const auto plain = co_await ask("/", fields);
      EXPECT_FALSE(plain.field("Content-Encoding"));
      EXPECT_EQ(plain.field("Vary"), "Accept-Encoding") << "for caches";
      EXPECT_EQ(plain.body, text);
    }
  });
}

TEST_P(compress_test, leaves_alone_what_must_or_need_not_be_coded) {
  http().wrap_all(compress{});
  const auto with = [&](std::string_view target, std::string_view name, std::string_view value,
                        status code = status::ok) {
    http().get(target, [=] {
      response made = response::text(prose(3000), code);
      if (!name.empty()) EXPECT_TRUE(made.add_field(name, value).has_value());
      return made;
    });
  };
  with("/coded", "Content-Encoding", "x-own");
  with("/fixed", "Cache-Control", "public, no-transform");
  with("/part", "Content-Range", "bytes 0-2999/6000", status::partial_content);
  http().get("/short", [] { return prose(1023); });
  http().get("/picture",
             [] { return response{status::ok, application_octet_stream, prose(3000)}; });
  http().get("/noise", [] {
    std::string text;
    for (unsigned i = 0, x = 1; i < 2000; ++i, x = x * 1664525 + 1013904223)
      text.push_back(static_cast<char>(x >> 24U));
    return text;
  });
  http().get("/nothing", [] {});
  run([&]() -> task<void> {
    for (const std::string_view target :
         {"/coded", "/fixed", "/part", "/short", "/picture", "/noise"}) {
      const auto reply = co_await ask(target, "Accept-Encoding: gzip\r\n");
      EXPECT_NE(reply.field("Content-Encoding"), "gzip") << target;
      EXPECT_GE(reply.body.size(), 1023U) << target;
      EXPECT_EQ(reply.field("Vary").has_value(), target == "/noise") << target;
    }
    EXPECT_EQ((co_await ask("/nothing", "Accept-Encoding: gzip\r\n")).status, 204);
  });
}

TEST_P(compress_test, makes_tags_weak_and_takes_ranges_back) {
  http().wrap_all(compress{});
  http().get("/", [](const request& asked) {
    const bool is_known = asked.header("if-none-match").has_value();
    response made = is_known ? response::empty(status::not_modified) : response::text(prose(3000));
    EXPECT_TRUE(made.add_field("ETag", "\"one\"").has_value());
    EXPECT_TRUE(made.add_field("Accept-Ranges", "bytes").has_value());
    EXPECT_TRUE(made.add_field("Vary", "Origin").has_value());
    return made;
  });
  run([&]() -> task<void> {
    const auto coded = co_await ask("/", "Accept-Encoding: gzip\r\n");
    EXPECT_EQ(coded.field("ETag"), "W/\"one\"");
    EXPECT_FALSE(coded.field("Accept-Ranges"));
    EXPECT_NE(coded.head.find("Vary: Origin"), std::string::npos);
    EXPECT_NE(coded.head.find("Vary: Accept-Encoding"), std::string::npos);
    const auto known = co_await ask("/", "Accept-Encoding: gzip\r\nIf-None-Match: W/\"one\"\r\n");
    EXPECT_EQ(known.status, 304);
    EXPECT_EQ(known.field("ETag"), "W/\"one\"");
    const auto plain = co_await ask("/", "");
    EXPECT_EQ(plain.field("ETag"), "\"one\"");
    EXPECT_EQ(plain.field("Accept-Ranges"), "bytes");
  });
}

TEST_P(compress_test, gives_a_long_reply_in_pieces) {
  const std::string text = prose(300'000);
  http().wrap_all(compress{});
  http().get("/", [&] { return text; });
  http().get("/late", [&]() -> task<std::string> {
    co_await world().sleep(std::chrono::milliseconds{1});
    co_return text;
  });
  run([&]() -> task<void> {
    for (const std::string_view target : {"/", "/late"}) {
      for (const content_coding each : all_codings) {
        const auto reply = co_await ask_for_chunks(
            target, "Accept-Encoding: " + std::string{to_string(each)} + "\r\n");
        EXPECT_EQ(reply.field("Content-Encoding"), to_string(each));
        EXPECT_EQ(reply.field("Transfer-Encoding"), "chunked");
        EXPECT_TRUE(decoded(without_chunks(reply.body), each) == text) << target;
      }
    }
    auto client = co_await world().connect();
    const auto head = [&]() -> task<http_reply> {
      co_await client.send("HEAD / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
      co_return co_await client.reply(true);
    };
    EXPECT_EQ((co_await head()).field("Content-Encoding"), "gzip");
    EXPECT_EQ((co_await head()).status, 200) << "the head alone, and the connection goes on";
  });
}

TEST_P(compress_test, flushes_each_piece) {
  http().wrap_all(compress{});
  event second_is_due;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  http().get("/", [&](body_writer& out) -> task<result<void>> {
    out.start({status::ok, text_plain, {}});
    EXPECT_TRUE((co_await out.write("first, ")).has_value());
    std::ignore = co_await second_is_due.wait();
    co_return co_await out.write("second");
  });
  run([&]() -> task<void> {
    for (const content_coding each : all_codings) {
      auto client = co_await world().connect();
      co_await client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAccept-Encoding: " +
                           std::string{to_string(each)} + "\r\n\r\n");
      std::string come;
      const auto text = [&] {
        const std::size_t end = come.find("\r\n\r\n");
        return end == std::string::npos ? std::string{}
                                        : decoded(without_chunks(come.substr(end + 4)), each);
      };
      while (text() != "first, ") come += co_await client.receive();
      second_is_due.set();
      come += co_await client.rest();
      EXPECT_EQ(text(), "first, second");
      second_is_due.reset();
    }
  });
}

TEST_P(compress_test, ends_within_the_body_where_its_handler_does) {
  http().wrap_all(compress{});
  http().get("/", [](body_writer& out) -> task<result<void>> {
    out.start({status::ok, text_plain, {}});
    std::ignore = co_await out.write(prose(100));
    co_return fail(errc::unavailable);
  });
  http().get("/early", [](body_writer& out) -> task<result<void>> {
    out.start({status::ok, text_plain, {}});
    co_return fail(errc::not_found);
  });
  run([&]() -> task<void> {
    const auto cut = co_await ask_for_chunks("/", "Accept-Encoding: gzip\r\n");
    bool is_whole = true;
    EXPECT_EQ(decoded(without_chunks(cut.body), content_coding::gzip, &is_whole), prose(100));
    EXPECT_FALSE(is_whole);
    EXPECT_FALSE(cut.body.ends_with("0\r\n\r\n"));
    EXPECT_EQ((co_await ask("/early", "Accept-Encoding: gzip\r\n")).status, 404);
  });
}

TEST_P(compress_test, keeps_no_more_encoders_than_it_may) {
  http().wrap_all(compress{{.at_once = 1}});
  event enough;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  http().get("/", [&](body_writer& out) -> task<result<void>> {
    out.start({status::ok, text_plain, {}});
    EXPECT_TRUE((co_await out.write(prose(2000))).has_value());
    std::ignore = co_await enough.wait();
    co_return result<void>{};
  });
  run([&]() -> task<void> {
    const auto coding_of = [&](testing::http_client& client) -> task<bool> {
      co_await client.send("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
      co_return (co_await client.receive()).contains("Content-Encoding: gzip");
    };
    {
      auto first = co_await world().connect();
      auto second = co_await world().connect();
      EXPECT_TRUE(co_await coding_of(first));
      EXPECT_FALSE(co_await coding_of(second)) << "it goes out as it is";
      enough.set();
      std::ignore = co_await first.receive();
    }
    auto third = co_await world().connect();
    EXPECT_TRUE(co_await coding_of(third)) << "a slot is given back";
  });
}

TEST_P(compress_test, gives_its_slot_back_when_the_client_goes_away) {
  http().wrap_all(compress{{.at_once = 1}});
  const std::string text = prose(4'000'000);
  http().get("/", [&] { return text; });
  http().get("/endless", [&](body_writer& out) -> task<result<void>> {
    out.start({status::ok, text_plain, {}});
    for (;;)
      if (auto sent = co_await out.write(std::string_view{text}); !sent) co_return sent;
  });
  run([&]() -> task<void> {
    for (const std::string_view target : {"/", "/endless", "/", "/endless", "/"}) {
      auto client = co_await world().connect();
      co_await client.send("GET " + std::string{target} +
                           " HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
      EXPECT_TRUE((co_await client.receive()).contains("Content-Encoding: gzip"));
      EXPECT_TRUE((co_await client.stream().close()).has_value());
      for (int i = 0; i < 200 && http().connections() != 0; ++i)
        co_await world().sleep(std::chrono::milliseconds{10});
    }
  });
}

TEST_P(compress_test, is_seen_by_the_log) {
  std::vector<std::string> lines;
  http().wrap_all(access_log{loop(), [&](std::string_view line) { lines.emplace_back(line); }});
  http().wrap_all(compress{});
  http().wrap_all(compress{});  // which changes nothing
  http().get("/{size}", [](const request& asked) {
    return prose(std::stoul(std::string{*asked.parameter("size")}));
  });
  run([&]() -> task<void> {
    const auto small = co_await ask("/2000", "Accept-Encoding: gzip\r\n");
    const auto large = co_await ask_for_chunks("/200000", "Accept-Encoding: gzip\r\n");
    EXPECT_EQ(decoded(small.body, content_coding::gzip), prose(2000));
    EXPECT_EQ(lines.size(), 2U);
    EXPECT_TRUE(lines.at(0).contains(" 200 " + std::to_string(small.body.size()) + " "));
    const std::string sent = std::to_string(without_chunks(large.body).size());
    EXPECT_TRUE(lines.at(1).contains(" 200 " + sent + " ")) << lines.at(1);
  });
}

}  // namespace
}  // namespace weft::http
