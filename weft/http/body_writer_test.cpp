#include <weft/http/body_writer.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include <weft/base/units.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/http/chunked_decoder.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::backend_name;
using testing::backends;
using testing::each_backend;
using testing::http_client;
using testing::http_reply;
using testing::in_memory;
using testing::repeated;

/// A reply in chunks, and whether they have come to their end.
struct streamed_reply {
  http_reply head;
  std::string body;
  bool is_whole = false;
};

/// The next one, of a client that knows no chunks by itself.
task<streamed_reply> next_reply(http_client& client) {
  streamed_reply got;
  got.head = co_await client.reply();
  chunked_decoder decoder;
  const limits bounds{.body_bytes = 1_GiB};
  while (!got.is_whole) {
    const std::string bytes = co_await client.receive();
    if (bytes.empty()) break;
    const chunked_progress progress = decoder.decode(bytes, got.body, bounds);
    EXPECT_NE(progress.status, chunked_status::failed);
    if (progress.status == chunked_status::failed) break;
    EXPECT_EQ(progress.consumed_bytes, bytes.size()) << "nothing comes behind it";
    got.is_whole = progress.status == chunked_status::complete;
  }
  co_return got;
}

task<streamed_reply> ask(http_client& client, std::string_view path) {
  co_await client.send("GET " + std::string{path} + " HTTP/1.1\r\nHost: a\r\n\r\n");
  co_return co_await next_reply(client);
}

std::string numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + "\n";
  return text;
}

class body_writer_test : public each_backend {
 protected:
  void SetUp() override {
    each_backend::SetUp();
    http().get("/hello", [] { return "hello"; });
  }
};
INSTANTIATE_TEST_SUITE_P(on, body_writer_test, backends, backend_name);

TEST_P(body_writer_test, sends_chunks_where_the_length_is_not_known) {
  http().get("/numbers", [](body_writer& out) -> task<result<void>> {
    for (int i = 0; i < 20'000; ++i)
      if (auto sent = co_await out.write(std::to_string(i) + "\n"); !sent) co_return sent;
    EXPECT_EQ(out.written_bytes(), numbers(20'000).size());
    co_return {};
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (int i = 0; i < 3; ++i) {
      const streamed_reply got = co_await ask(client, "/numbers");
      EXPECT_EQ(got.head.status, 200);
      EXPECT_EQ(got.head.field("Transfer-Encoding"), "chunked");
      EXPECT_FALSE(got.head.field("Content-Length").has_value());
      EXPECT_EQ(got.head.field("Content-Type"), "application/octet-stream");
      EXPECT_TRUE(got.is_whole);
      EXPECT_TRUE(got.body == numbers(20'000));
      EXPECT_EQ((co_await client.ask("GET", "/hello")).body, "hello") << "the connection goes on";
    }
  });
}

TEST_P(body_writer_test, sends_pieces_of_any_size_from_any_memory) {
  http().get("/pieces", [](body_writer& out) -> task<void> {
    const std::string large(100'000, 'l');
    for (const std::size_t size : {1U, 15U, 16U, 16'280U, 16'320U, 20'000U, 100'000U}) {
      EXPECT_TRUE((co_await out.write(std::string_view{large}.substr(0, size))).has_value());
      EXPECT_TRUE((co_await out.write(std::string(size, 'o'))).has_value());
      EXPECT_TRUE((co_await out.write("")).has_value()) << "an empty one is no end";
    }
    EXPECT_TRUE((co_await out.write("end")).has_value());
  });
  run([&]() -> task<void> {
    std::string expected;
    for (const std::size_t size : {1U, 15U, 16U, 16'280U, 16'320U, 20'000U, 100'000U})
      expected += std::string(size, 'l') + std::string(size, 'o');
    auto client = co_await world().connect();
    const streamed_reply got = co_await ask(client, "/pieces");
    EXPECT_TRUE(got.is_whole);
    EXPECT_TRUE(got.body == expected + "end");
  });
}

TEST_P(body_writer_test, says_what_the_handler_says_first) {
  http().get("/csv", [](body_writer& out) -> task<result<void>> {
    response head{status::partial_content, "text/csv", "a,b\n"};
    EXPECT_TRUE(head.add_field("X-Rows", "1").has_value());
    out.start(std::move(head), 8);
    co_return co_await out.write("1,2\n");
  });
  http().get("/nothing", [](body_writer&) -> task<void> { co_return; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const http_reply got = co_await client.ask("GET", "/csv");
    EXPECT_EQ(got.status, 206);
    EXPECT_EQ(got.field("Content-Type"), "text/csv");
    EXPECT_EQ(got.field("X-Rows"), "1");
    EXPECT_EQ(got.field("Content-Length"), "8");
    EXPECT_FALSE(got.field("Transfer-Encoding").has_value());
    EXPECT_EQ(got.body, "a,b\n1,2\n");
    const http_reply nothing = co_await client.ask("GET", "/nothing");
    EXPECT_EQ(nothing.status, 200);
    EXPECT_EQ(nothing.field("Content-Length"), "0");
  });
}

TEST_P(body_writer_test, gives_head_the_head_alone) {
  http().get("/known", [](body_writer& out) -> task<result<void>> {
    out.start({status::ok, text_plain, {}}, 5);
    co_return co_await out.write("known");
  });
  http().get("/unknown", [](body_writer& out) -> task<result<void>> {
    co_return co_await out.write("unknown");
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("HEAD", "/known")).field("Content-Length"), "5");
    EXPECT_EQ((co_await client.ask("HEAD", "/unknown")).field("Transfer-Encoding"), "chunked");
    EXPECT_EQ((co_await client.ask("GET", "/hello")).body, "hello") << "and no byte came";
  });
}

TEST_P(body_writer_test, ends_with_the_connection_for_who_knows_no_chunks) {
  http().get("/old", [](body_writer& out) -> task<result<void>> {
    for (int i = 0; i < 3; ++i)
      if (auto sent = co_await out.write("piece "); !sent) co_return sent;
    co_return {};
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const http_reply head = co_await client.reply();
    EXPECT_EQ(head.field("Connection"), "close");
    EXPECT_FALSE(head.field("Transfer-Encoding").has_value());
    EXPECT_FALSE(head.field("Content-Length").has_value());
    EXPECT_EQ(co_await client.rest(), "piece piece piece ");
    EXPECT_EQ(client.last_error(), errc::closed);
  });
}

TEST_P(body_writer_test, never_passes_half_a_body_for_a_whole_one) {
  http().get("/before",
             [](body_writer&) -> task<result<void>> { co_return fail(errc::not_found); });
  http().get("/failed", [](body_writer& out) -> task<result<void>> {
    EXPECT_TRUE((co_await out.write("half")).has_value());
    co_return fail(errc::unavailable);
  });
  http().get("/thrown", [](body_writer& out) -> task<void> {
    EXPECT_TRUE((co_await out.write("half")).has_value());
    throw std::runtime_error{"as asked"};
  });
  http().get("/short", [](body_writer& out) -> task<result<void>> {
    out.start({status::ok, text_plain, {}}, 8);
    co_return co_await out.write("half");
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/before")).status, 404) << "nothing was sent before";
    EXPECT_EQ((co_await client.ask("GET", "/hello")).status, 200);
    for (const char* path : {"/failed", "/thrown"}) {
      auto other = co_await world().connect();
      const streamed_reply got = co_await ask(other, path);
      EXPECT_EQ(got.body, "half") << path;
      EXPECT_FALSE(got.is_whole) << path;
    }
    auto other = co_await world().connect();
    const http_reply got = co_await other.ask("GET", "/short");
    EXPECT_EQ(got.field("Content-Length"), "8");
    EXPECT_EQ(got.body, "half");
    EXPECT_EQ(other.last_error(), errc::closed);
  });
}

TEST_P(body_writer_test, sends_no_more_than_was_announced_and_no_body_where_there_is_none) {
  http().get("/long", [](body_writer& out) -> task<void> {
    out.start({status::ok, text_plain, {}}, 4);
    EXPECT_TRUE((co_await out.write("body")).has_value());
    EXPECT_EQ((co_await out.write("+")).error(), errc::invalid_argument);
  });
  http().get("/unchanged", [](body_writer& out) -> task<void> {
    out.start(response::empty(status::not_modified));
    EXPECT_EQ((co_await out.write("+")).error(), errc::invalid_argument);
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/long")).body, "body");
    EXPECT_EQ((co_await client.ask("GET", "/unchanged")).status, 304);
    EXPECT_EQ((co_await client.ask("GET", "/hello")).body, "hello");
  });
}

TEST_P(body_writer_test, waits_for_a_slow_client) {
  std::uint64_t written = 0;
  http().get("/large", [&](body_writer& out) -> task<result<void>> {
    for (int i = 0; i < 4'000; ++i) {
      if (auto sent = co_await out.write(std::string(10'000, 'b')); !sent) co_return sent;
      written = out.written_bytes();
    }
    co_return {};
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    std::uint64_t before = 0;
    for (int still = 0; still < 1'000; ++still) {
      co_await yield{loop()};
      if (written != before) still = 0;
      before = written;
    }
    EXPECT_LT(written, GetParam() == backend_kind::simulated ? 250'000U : 20'000'000U);
    const streamed_reply got = co_await next_reply(client);
    EXPECT_TRUE(got.is_whole);
    EXPECT_EQ(got.body.size(), 40'000'000U);
  });
}

TEST_P(body_writer_test, tells_the_handler_that_the_client_has_gone) {
  std::optional<error> seen;
  bool was_stopped = false;
  http().get("/endless", [&](body_writer& out) -> task<void> {
    const stop_token stop = (co_await this_task::environment()).stop;
    for (;;) {
      if (auto sent = co_await out.write(std::string(10'000, 'b')); !sent) {
        was_stopped = stop.stop_requested();
        seen = sent.error();
        co_return;
      }
    }
  });
  run([&]() -> task<void> {
    {
      auto client = co_await world().connect();
      co_await client.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
      EXPECT_EQ((co_await client.reply()).status, 200);
    }
    while (!seen) co_await yield{loop()};
    EXPECT_TRUE(was_stopped);
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/hello")).body, "hello");
  });
}

TEST_P(body_writer_test, writes_while_it_reads) {
  http().post("/echo", [](body_reader& in, body_writer& out) -> task<result<void>> {
    while (auto piece = co_await in.read())
      if (auto sent = co_await out.write(*piece); !sent) co_return sent;
    co_return in.outcome();
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (int i = 0; i < 2; ++i) {
      co_await client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
      co_await client.send("5\r\nfirst\r\n");
      EXPECT_EQ((co_await client.reply()).status, 200);
      EXPECT_EQ(co_await client.receive(), "5\r\nfirst\r\n") << "before the rest is there";
      co_await client.send("6\r\nsecond\r\n0\r\n\r\n");
      std::string rest;
      while (!rest.ends_with("0\r\n\r\n")) rest += co_await client.receive();
      EXPECT_EQ(rest, "6\r\nsecond\r\n0\r\n\r\n");
    }
    co_await client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    co_await client.send("5\r\nfirst\r\n5\r\nhelloXX");
    EXPECT_EQ((co_await client.reply()).status, 200);
    const std::string rest = co_await client.rest();
    EXPECT_EQ(rest.find("0\r\n\r\n"), rest.npos) << "lost: " << rest;
  });
}

class body_writer_in_memory : public in_memory {};

TEST_F(body_writer_in_memory, gives_up_on_who_takes_nothing) {
  std::optional<error> seen;
  time_point given_up;
  http().get("/endless", [&](body_writer& out) -> task<void> {
    for (;;) {
      if (auto sent = co_await out.write(std::string(10'000, 'b')); !sent) {
        seen = sent.error();
        given_up = loop().now();
        co_return;
      }
    }
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
    for (int i = 0; i < 10; ++i) {
      co_await world().sleep(seconds{25});
      EXPECT_FALSE(seen.has_value()) << "a little is enough";
      for (int pieces = 0; pieces < 10; ++pieces)
        EXPECT_FALSE((co_await client.stream().read()).value().empty());
    }
    const time_point began = loop().now();
    co_await world().sleep(seconds{70});
    EXPECT_EQ(seen, errc::timed_out);
    EXPECT_LE(given_up - began, seconds{61}) << "looked at every 30 seconds";
    EXPECT_EQ(http().connections(), 0U);
  });
}

TEST_F(body_writer_in_memory, may_take_long_if_the_client_is_slow) {
  http().get("/long", [&](body_writer& out) -> task<result<void>> {
    for (int i = 0; i < 100; ++i)
      if (auto sent = co_await out.write(std::string(10'000, 'b')); !sent) co_return sent;
    co_return {};
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n");
    std::size_t got = 0;
    while (got < 1'000'000) {
      co_await world().sleep(seconds{1});
      got += (co_await client.stream().read()).value().size();
    }
    EXPECT_EQ(http().connections(), 1U);
  });
}

TEST_F(body_writer_in_memory, takes_nothing_from_who_goes_on_without_room) {
  std::uint64_t written = 0;
  int refused = 0;
  http().get("/heedless", [&](body_writer& out) -> task<void> {
    for (int i = 0; i < 200; ++i) {
      const deadline soon = deadline::at(loop().now() + milliseconds{1});
      const auto sent = co_await with_deadline(soon, out.write(std::string(10'000, 'b')));
      if (!sent) ++refused;
    }
    written = out.written_bytes();
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /heedless HTTP/1.1\r\nHost: a\r\n\r\n");
    co_await world().sleep(seconds{1});
    EXPECT_LT(written, 250'000U);
    EXPECT_EQ(written, (200U - static_cast<unsigned>(refused)) * 10'000U) << "refused whole";
    const streamed_reply got = co_await next_reply(client);
    EXPECT_TRUE(got.is_whole);
    EXPECT_EQ(got.body.size(), written);
  });
}

TEST_F(body_writer_in_memory, has_its_handlers_time_between_two_pieces) {
  http().get("/stuck", [&](body_writer& out) -> task<result<void>> {
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE((co_await out.write("piece")).has_value());
      if (auto slept = co_await sleep_for(loop(), seconds{i == 2 ? 60 : 25}); !slept)
        co_return slept;
    }
    co_return {};
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const time_point began = loop().now();
    const streamed_reply got = co_await ask(client, "/stuck");
    EXPECT_EQ(got.body, "piecepiecepiece");
    EXPECT_FALSE(got.is_whole);
    EXPECT_GE(loop().now() - began, seconds{80});
    EXPECT_LT(loop().now() - began, milliseconds{80'020});
  });
}

}  // namespace
}  // namespace weft::http
