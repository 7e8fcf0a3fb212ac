#include <weft/http/body_reader.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/base/units.hpp>
#include <weft/coro/with_deadline.hpp>
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
using testing::plain_get;

constexpr std::array<std::string_view, 2> framings = {"length", "chunked"};

std::string text_of(std::size_t size_bytes) {
  std::string text(size_bytes, '\0');
  for (std::size_t i = 0; i < size_bytes; ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
  return text;
}

std::string chunk(std::string_view content) {
  return weft::format("{:x}\r\n{}\r\n", content.size(), content);
}

std::string head_of(std::string_view path, std::string_view fields) {
  return weft::format("POST {} HTTP/1.1\r\nHost: a\r\n{}\r\n", path, fields);
}

std::string upload(std::string_view framing, std::string_view path, std::string_view body) {
  if (framing == "length")
    return head_of(path, weft::format("Content-Length: {}\r\n", body.size())).append(body);
  std::string text = head_of(path, "Transfer-Encoding: chunked\r\n");
  for (std::size_t size = 1; !body.empty(); size = size * 3 % 10'007) {
    const std::string_view part = body.substr(0, size);
    text += chunk(part);
    body.remove_prefix(part.size());
  }
  return text + "0\r\n\r\n";
}

/// All of it, as text.
task<result<std::string>> read_all(body_reader& body) {
  std::string all;
  while (auto piece = co_await body.read()) {
    EXPECT_FALSE(piece->empty());
    all += *piece;
  }
  EXPECT_EQ(body.given_bytes(), all.size());
  if (const auto whole = body.outcome(); !whole) co_return fail(whole.error());
  co_return all;
}

class body_reader_test : public each_backend {
 protected:
  void SetUp() override {
    each_backend::SetUp();
    add_routes();
  }
  void serve_within(const limits& bounds) {
    each_backend::serve_within(bounds);
    add_routes();
  }
  task<void> turns(int count) {
    for (; count > 0; --count) co_await yield{loop()};
  }

  std::optional<error> seen_;  // why the body of /upload was not whole

 private:
  void add_routes() {
    http().get("/", [] { return "hello"; }).post("/upload", [this](body_reader& body) {
      return take(body);
    });
  }
  task<result<std::string>> take(body_reader& body) {
    auto all = co_await read_all(body);
    if (!all) seen_ = all.error();
    co_return all;
  }
};
INSTANTIATE_TEST_SUITE_P(on, body_reader_test, backends, backend_name);

TEST_P(body_reader_test, gives_bodies_of_any_size_and_leaves_what_follows) {
  run([&]() -> task<void> {
    for (const std::string_view framing : framings) {
      auto client = co_await world().connect();
      for (const std::size_t size : {0U, 1U, 100U, 3'900U, 4'032U, 4'033U, 50'000U, 1'000'000U}) {
        const std::string body = text_of(size);
        co_await client.send(upload(framing, "/upload", body) + std::string{plain_get});
        const http_reply answer = co_await client.reply();
        EXPECT_EQ(answer.status, 200) << framing << size;
        EXPECT_TRUE(answer.body == body) << framing << size;
        EXPECT_EQ((co_await client.reply()).body, "hello") << framing << size;
      }
    }
  });
}

TEST_P(body_reader_test, takes_bodies_cut_anywhere) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (const std::string_view framing : framings) {
      const std::string whole = upload(framing, "/upload", "hello wide world");
      for (std::size_t cut = 1; cut < whole.size(); ++cut) {
        co_await client.send(whole.substr(0, cut));
        co_await turns(4);
        co_await client.send(whole.substr(cut) + std::string{plain_get});
        EXPECT_EQ((co_await client.reply()).body, "hello wide world") << framing << cut;
        EXPECT_EQ((co_await client.reply()).body, "hello") << framing << cut;
      }
    }
  });
}

TEST_P(body_reader_test, knows_the_length_that_was_announced) {
  http().post("/length", [](body_reader& body, const request& asked) -> task<std::string> {
    EXPECT_EQ(asked.body(), "") << "the reader has it";
    const auto length = body.length();
    while (co_await body.read()) {}
    co_return length ? std::to_string(*length) : "unknown";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(upload("length", "/length", "12345"));
    EXPECT_EQ((co_await client.reply()).body, "5");
    co_await client.send(upload("chunked", "/length", "12345"));
    EXPECT_EQ((co_await client.reply()).body, "unknown");
  });
}

TEST_P(body_reader_test, asks_for_the_body_when_the_handler_does) {
  bool may_read = false;
  http().post("/late", [&](body_reader& body) -> task<result<std::string>> {
    while (!may_read) co_await yield{loop()};
    co_return co_await read_all(body);
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(head_of("/late", "Expect: 100-continue\r\nContent-Length: 5\r\n"));
    while (http().requests() == 0) co_await yield{loop()};
    co_await turns(20);
    EXPECT_FALSE(client.stream().has_input()) << "nobody has asked yet";
    may_read = true;
    EXPECT_EQ((co_await client.reply()).head, "HTTP/1.1 100 Continue\r\n\r\n");
    co_await client.send("hello");
    EXPECT_EQ((co_await client.reply()).body, "hello");
    EXPECT_EQ((co_await client.ask("GET", "/")).status, 200) << "the connection goes on";
  });
}

TEST_P(body_reader_test, does_not_ask_for_a_body_that_is_not_wanted) {
  http().post("/refuse", [](body_reader&) -> task<response> {
    co_return response::problem(status::forbidden, "not today");
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(head_of("/refuse", "Expect: 100-continue\r\nContent-Length: 5\r\n"));
    const http_reply answer = co_await client.reply();
    EXPECT_EQ(answer.status, 403);
    EXPECT_EQ(answer.field("Connection"), "close") << "whether the body comes is not known";
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ(client.last_error(), errc::closed);
  });
}

TEST_P(body_reader_test, says_that_the_connection_ends_where_a_handler_gives_up_on_much) {
  http().post("/first", [](body_reader& body) -> task<result<std::string>> {
    const auto piece = co_await body.read();
    if (!piece) co_return fail(piece.error());
    co_return fail(errc::invalid_argument);
  });
  run([&]() -> task<void> {
    for (const std::size_t size : {30'000U, 1'000'000U}) {
      auto client = co_await world().connect();
      co_await client.send(upload("length", "/first", text_of(size)));
      const http_reply answer = co_await client.reply();
      EXPECT_EQ(answer.status, 400);
      EXPECT_EQ(answer.field("Connection").has_value(), size == 1'000'000U);
    }
  });
}

TEST_P(body_reader_test, drops_a_little_that_was_not_read_and_closes_before_much) {
  http().post("/ignore", [](body_reader&) -> task<std::string> { co_return "ignored"; });
  run([&]() -> task<void> {
    for (const std::string_view framing : framings) {
      auto client = co_await world().connect();
      for (const std::size_t size : {10U, 5'000U, 30'000U}) {
        co_await client.send(upload(framing, "/ignore", text_of(size)) + std::string{plain_get});
        EXPECT_EQ((co_await client.reply()).body, "ignored") << framing << size;
        EXPECT_EQ((co_await client.reply()).body, "hello") << framing << size;
      }
    }
    auto client = co_await world().connect();
    co_await client.send(upload("length", "/ignore", text_of(200'000)));
    const http_reply announced = co_await client.reply();
    EXPECT_EQ(announced.body, "ignored");
    EXPECT_EQ(announced.field("Connection"), "close");
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ(client.last_error(), errc::closed) << "no reset";
    auto chunks = co_await world().connect();
    co_await chunks.send(upload("chunked", "/ignore", text_of(200'000)) + std::string{plain_get});
    EXPECT_EQ((co_await chunks.reply()).body, "ignored");
    EXPECT_EQ(co_await chunks.rest(), "") << "the next request is not taken out of the body";
    EXPECT_EQ(chunks.last_error(), errc::closed);
  });
}

TEST_P(body_reader_test, tells_handler_and_client_of_wrong_framing) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(head_of("/upload", "Transfer-Encoding: chunked\r\n") + chunk("hello"));
    co_await turns(10);
    co_await client.send("5\r\nhelloXX");
    const http_reply answer = co_await client.reply();
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.field("Connection"), "close");
    EXPECT_EQ(answer.field("Content-Type"), "application/problem+json");
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ(seen_, errc::protocol_error);
  });
}

TEST_P(body_reader_test, keeps_the_limit_of_the_body) {
  serve_within({.body_bytes = 1'000});
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(head_of("/upload", "Transfer-Encoding: chunked\r\n") +
                         chunk(text_of(1'000)));
    co_await turns(10);
    co_await client.send("1\r\n");
    EXPECT_EQ((co_await client.reply()).status, 413);
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ(seen_, errc::limit_exceeded);
    auto other = co_await world().connect();
    co_await other.send(head_of("/upload", "Content-Length: 1001\r\n"));
    EXPECT_EQ((co_await other.reply()).status, 413) << "before a byte of it has come";
  });
}

TEST_P(body_reader_test, tells_the_handler_that_the_client_has_gone) {
  bool was_stopped = false;
  bool has_ended = false;
  http().post("/watched", [&](body_reader& body) -> task<result<std::string>> {
    const stop_token stop = (co_await this_task::environment()).stop;
    auto all = co_await read_all(body);
    was_stopped = stop.stop_requested();
    has_ended = true;
    EXPECT_EQ(all.error(), errc::reset);
    co_return all;
  });
  run([&]() -> task<void> {
    for (const std::string_view framing : framings) {
      was_stopped = has_ended = false;
      {
        auto client = co_await world().connect();
        const std::string whole = upload(framing, "/watched", text_of(5'000));
        co_await client.send(whole.substr(0, 2'000));
        co_await turns(10);
      }
      while (!has_ended) co_await yield{loop()};
      EXPECT_TRUE(was_stopped) << framing;
    }
    while (http().connections() != 0) co_await yield{loop()};
  });
}

TEST_P(body_reader_test, makes_the_client_wait_for_the_handler) {
  serve_within({.body_bytes = 100_MiB});
  bool may_read = false;
  std::uint64_t read_bytes = 0;
  http().post("/slow", [&](body_reader& body) -> task<result<std::string>> {
    while (!may_read) co_await yield{loop()};
    while (auto piece = co_await body.read()) read_bytes += piece->size();
    if (const auto whole = body.outcome(); !whole) co_return fail(whole.error());
    co_return std::to_string(read_bytes);
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const std::size_t slots = loop().buffers().in_use();
    const std::string body = text_of(20_MiB);
    co_await client.send(head_of("/slow", weft::format("Content-Length: {}\r\n", body.size())));
    scope sending{co_await this_task::environment()};
    sending.spawn(client.send(body));
    // Until nothing moves any more: the kernel holds what it holds.
    std::size_t before = 0;
    for (int still = 0; still < 1'000; ++still) {
      co_await yield{loop()};
      if (client.stream().queued_bytes() != before) still = 0;
      before = client.stream().queued_bytes();
    }
    EXPECT_GT(before, 5_MiB) << "the client has much of it, still";
    EXPECT_LE(loop().buffers().in_use(), slots + 10);
    may_read = true;
    EXPECT_EQ((co_await client.reply()).body, std::to_string(20_MiB));
    EXPECT_EQ(read_bytes, 20_MiB);
    co_await sending.join();
  });
}

class body_reader_in_memory : public in_memory {
 protected:
  /// One piece each `every`.
  task<void> send(http_client& client, std::string_view framing, std::string_view path,
                  std::size_t bytes, std::size_t count, duration every) {
    const std::string piece(bytes, 'b');
    const bool is_chunked = framing == "chunked";
    co_await client.send(
        head_of(path, is_chunked ? std::string{"Transfer-Encoding: chunked\r\n"}
                                 : weft::format("Content-Length: {}\r\n", bytes * count)));
    for (std::size_t i = 0; i < count; ++i) {
      co_await world().sleep(every);
      co_await client.send(is_chunked ? chunk(piece) : piece);
    }
    if (is_chunked) co_await client.send("0\r\n\r\n");
  }
};

TEST_F(body_reader_in_memory, refuses_a_client_that_is_too_slow) {
  std::optional<error> seen;
  http().post("/upload", [&](body_reader& body) -> task<result<std::string>> {
    auto all = co_await read_all(body);
    if (!all) seen = all.error();
    co_return all;
  });
  run([&]() -> task<void> {
    for (const std::string_view framing : framings) {
      seen.reset();
      auto client = co_await world().connect();
      const time_point began = loop().now();
      scope sending{co_await this_task::environment()};
      sending.spawn(send(client, framing, "/upload", 1, 20, seconds{1}));
      EXPECT_EQ((co_await client.reply()).status, 408) << framing;
      EXPECT_GE(loop().now() - began, seconds{5});
      EXPECT_LT(loop().now() - began, milliseconds{5'300}) << "five pieces have earned a little";
      EXPECT_EQ(seen, errc::timed_out);
      co_await sending.join();
    }
  });
}

TEST_F(body_reader_in_memory, does_not_hold_the_handlers_time_against_the_client) {
  http().post("/slow", [&](body_reader& body) -> task<result<std::string>> {
    std::size_t size = 0;
    for (;;) {
      co_await world().sleep(seconds{20});
      const auto piece = co_await body.read();
      if (!piece) break;
      size += piece->size();
    }
    if (const auto whole = body.outcome(); !whole) co_return fail(whole.error());
    co_return std::to_string(size);
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const time_point began = loop().now();
    co_await send(client, "length", "/slow", 16'000, 10, milliseconds{1});
    EXPECT_EQ((co_await client.reply()).body, "160000");
    EXPECT_GE(loop().now() - began, seconds{200})
        << "longer than a body, and a handler, may be: but each piece is in time";
  });
}

TEST_F(body_reader_in_memory, asks_a_handler_that_takes_nothing_for_too_long_to_stop) {
  http().post("/stuck", [&](body_reader& body) -> task<result<void>> {
    std::ignore = co_await body.read();
    const auto slept = co_await sleep_for(loop(), seconds{60});
    co_return slept;
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(head_of("/stuck", "Content-Length: 100000\r\n"));
    co_await world().sleep(seconds{4});
    const time_point began = loop().now();
    co_await client.send("b");
    EXPECT_EQ((co_await client.reply()).status, 503);
    EXPECT_GE(loop().now() - began, seconds{30});
    EXPECT_LT(loop().now() - began, milliseconds{30'010});
    EXPECT_EQ(co_await client.rest(), "");
  });
}

TEST_F(body_reader_in_memory, loses_nothing_by_a_deadline_of_the_handlers) {
  http().post("/impatient", [&](body_reader& body) -> task<result<std::string>> {
    std::string all;
    unsigned given_up = 0;
    for (;;) {
      const auto piece = co_await with_timeout(milliseconds{300}, body.read());
      if (piece)
        all += *piece;
      else if (piece.error() == errc::timed_out)
        ++given_up;
      else
        break;
    }
    if (const auto whole = body.outcome(); !whole) co_return fail(whole.error());
    EXPECT_GT(given_up, 20U);
    co_return all;
  });
  run([&]() -> task<void> {
    for (const std::string_view framing : framings) {
      auto client = co_await world().connect();
      co_await send(client, framing, "/impatient", 300, 10, seconds{1});
      EXPECT_EQ((co_await client.reply()).body, std::string(3'000, 'b')) << framing;
    }
  });
}

}  // namespace
}  // namespace weft::http
