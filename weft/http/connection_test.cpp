#include <weft/http/connection.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include <weft/base/units.hpp>
#include <weft/coro/running_task.hpp>
#include <weft/testing/allocation_counter.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::each_backend;
using testing::http_reply;
using testing::in_memory;
using testing::plain_get;
using testing::repeated;

struct ping {
  std::int64_t sequence = 0;
};

std::string posted(std::string_view body) {
  return "POST /ping HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string{body};
}

class connection_test : public each_backend {
 protected:
  /// The routes these tests ask for.
  void add_routes() {
    http()
        .get("/", [] { return "hello"; })
        .post("/ping", [](ping p) { return p; })
        .post("/size", [](const request& r) { return r.body().size(); })
        .post("/echo", [](const request& r) { return std::string{r.body()}; });
  }
  void SetUp() override {
    each_backend::SetUp();
    add_routes();
  }
};
INSTANTIATE_TEST_SUITE_P(on, connection_test, backends, backend_name);

TEST_P(connection_test, keeps_and_closes_as_asked) {
  struct expectation {
    const char* request;
    const char* connection;
    bool kept;
  };
  for (const expectation& each : {
           expectation{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "", true},
           expectation{"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "close", false},
           expectation{"GET / HTTP/1.0\r\n\r\n", "close", false},
           expectation{"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive", true},
       }) {
    serve_within({});
    add_routes();
    run([&]() -> task<void> {
      auto client = co_await world().connect();
      co_await client.send(each.request);
      const http_reply answer = co_await client.reply();
      EXPECT_EQ(answer.body, "hello") << each.request;
      EXPECT_EQ(answer.field("Connection").value_or(""), each.connection) << each.request;
      if (each.kept) {
        EXPECT_EQ((co_await client.ask("GET", "/")).status, 200) << each.request;
      } else {
        EXPECT_EQ(co_await client.rest(), "") << each.request;
        EXPECT_EQ(client.last_error(), errc::closed) << each.request;
      }
    });
  }
}

TEST_P(connection_test, is_named_where_its_handler_keeps_the_loop) {
  http().get("/where",
             [] { return std::string{weft::detail::running.resumed_at.load().function_name()}; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_TRUE((co_await client.ask("GET", "/where")).body.contains("http::"));
    const http_reply second = co_await client.ask("GET", "/where");
    EXPECT_TRUE(second.body.contains("connection::on_received")) << second.body;
  });
}

TEST_P(connection_test, closes_after_so_many_requests) {
  serve_within({.requests_per_connection = 2});
  add_routes();
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_FALSE((co_await client.ask("GET", "/")).field("Connection").has_value());
    EXPECT_EQ((co_await client.ask("GET", "/")).field("Connection"), "close");
    EXPECT_EQ(co_await client.rest(), "");
  });
}

TEST_P(connection_test, answers_pipelined_requests_in_order) {
  event_loop& turning = loop();
  http().post("/late", [&](ping p) -> task<ping> {
    for (std::int64_t i = p.sequence % 3; i > 0; --i) co_await yield{turning};
    co_return p;
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    std::string all;
    for (int i = 0; i < 16; ++i) {
      std::string one = posted(R"({"sequence":)" + std::to_string(i) + "}");
      if (i % 2 == 1) one.replace(one.find("/ping"), 5, "/late");
      all += one;
    }
    co_await client.send(all);
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ((co_await client.reply()).body, R"({"sequence":)" + std::to_string(i) + "}");
  });
}

TEST_P(connection_test, takes_a_request_split_anywhere) {
  const std::string whole = posted(R"({"sequence":42})");
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (std::size_t cut = 1; cut < whole.size(); ++cut) {
      co_await client.send(whole.substr(0, cut));
      for (int i = 0; i < 4; ++i) co_await yield{loop()};
      co_await client.send(whole.substr(cut));
      const http_reply answer = co_await client.reply();
      EXPECT_EQ(answer.status, 200) << cut;
      EXPECT_EQ(answer.body, R"({"sequence":42})") << cut;
    }
  });
}

TEST_P(connection_test, takes_bytes_one_by_one) {
  const std::string whole = posted(R"({"sequence":42})") + std::string{plain_get};
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (const char byte : whole) {
      co_await client.send(std::string_view{&byte, 1});
      for (int i = 0; i < 4; ++i) co_await yield{loop()};
    }
    EXPECT_EQ((co_await client.reply()).body, R"({"sequence":42})");
    EXPECT_EQ((co_await client.reply()).body, "hello");
  });
}

TEST_P(connection_test, gathers_a_body_of_many_buffers) {
  std::string body(1_MiB, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>('a' + i * 7 % 26);
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (int i = 0; i < 2; ++i) {
      const http_reply answer = co_await client.ask("POST", "/echo", body);
      EXPECT_EQ(answer.status, 200);
      EXPECT_TRUE(answer.body == body);
    }
    EXPECT_EQ((co_await client.ask("GET", "/")).status, 200);
  });
}

TEST_P(connection_test, refuses_a_body_that_is_too_long_and_says_so) {
  serve_within({.body_bytes = 1'000});
  add_routes();
  run([&]() -> task<void> {
    for (const std::size_t size : {1'001U, 5'000U, 200'000U}) {
      auto client = co_await world().connect();
      const http_reply answer = co_await client.ask("POST", "/size", std::string(size, 'b'));
      EXPECT_EQ(answer.status, 413) << size;
      EXPECT_EQ(answer.field("Connection"), "close");
      EXPECT_EQ(answer.field("Content-Type"), "application/problem+json");
      EXPECT_EQ(co_await client.rest(), "");
      EXPECT_EQ(client.last_error(), errc::closed) << "ended, not reset, by " << size;
    }
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("POST", "/size", std::string(1'000, 'b'))).body, "1000");
  });
}

TEST_P(connection_test, refuses_what_is_no_http_and_says_so) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(std::string{plain_get} + "GET /\r\n\r\n" + std::string{plain_get});
    EXPECT_EQ((co_await client.reply()).status, 200) << "what came before is answered";
    const http_reply refused = co_await client.reply();
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(refused.field("Connection"), "close");
    EXPECT_EQ(co_await client.rest(), "") << "and what came after is not";
    EXPECT_EQ(client.last_error(), errc::closed);
    EXPECT_EQ(http().requests(), 1U);
  });
}

TEST_P(connection_test, takes_chunked_bodies) {
  const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string body =
      "5;note=1\r\nhello\r\n1\r\n \r\nA\r\nwide world\r\n0\r\nX-Trailer: 1\r\n\r\n";
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(head + body + head + body + std::string{plain_get});
    EXPECT_EQ((co_await client.reply()).body, "hello wide world");
    EXPECT_EQ((co_await client.reply()).body, "hello wide world");
    EXPECT_EQ((co_await client.reply()).body, "hello");
    for (std::size_t cut = 1; cut < body.size(); ++cut) {
      co_await client.send(head + body.substr(0, cut));
      for (int i = 0; i < 4; ++i) co_await yield{loop()};
      co_await client.send(body.substr(cut) + std::string{plain_get});
      EXPECT_EQ((co_await client.reply()).body, "hello wide world") << cut;
      EXPECT_EQ((co_await client.reply()).body, "hello") << cut;
    }
  });
}

TEST_P(connection_test, refuses_bad_and_too_long_chunked_bodies) {
  serve_within({.body_bytes = 1'000});
  add_routes();
  const std::string head = "POST /size HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(head + "5\r\nhelloXX");
    EXPECT_EQ((co_await client.reply()).status, 400);
    EXPECT_EQ(co_await client.rest(), "");
    auto other = co_await world().connect();
    co_await other.send(head + "3e8\r\n" + std::string(1'000, 'b') + "\r\n1\r\n");
    EXPECT_EQ((co_await other.reply()).status, 413);
    EXPECT_EQ(co_await other.rest(), "");
  });
}

TEST_P(connection_test, asks_for_the_body_that_waits_to_be_asked_for) {
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(head);
    EXPECT_EQ((co_await client.reply()).head, "HTTP/1.1 100 Continue\r\n\r\n");
    co_await client.send("he");
    for (int i = 0; i < 4; ++i) co_await yield{loop()};
    co_await client.send("llo");
    EXPECT_EQ((co_await client.reply()).body, "hello");
    co_await client.send(head + "again");
    EXPECT_EQ((co_await client.reply()).body, "again") << "who sends at once is not asked";
    co_await client.send(
        "POST /size HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: "
        "9999999\r\n\r\n");
    EXPECT_EQ((co_await client.reply()).status, 413) << "nor is one whose body is not wanted";
    EXPECT_EQ(co_await client.rest(), "");
  });
}

TEST_P(connection_test, asks_nobody_who_has_begun_to_send_for_the_rest) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(
        "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhe");
    for (int i = 0; i < 4; ++i) co_await yield{loop()};
    co_await client.send("llo");
    EXPECT_EQ((co_await client.reply()).body, "hello");
  });
}

TEST_P(connection_test, ends_with_a_client_that_goes_in_the_middle) {
  const std::string whole = posted(R"({"sequence":42})");
  run([&]() -> task<void> {
    for (const std::size_t cut :
         {std::size_t{0}, std::size_t{10}, whole.size() - 3, whole.size()}) {
      {
        auto client = co_await world().connect();
        co_await client.send(whole.substr(0, cut));
        for (int i = 0; i < 4; ++i) co_await yield{loop()};
      }
      while (http().connections() != 0) co_await yield{loop()};
    }
  });
}

TEST_P(connection_test, answers_a_client_that_has_shut_its_side_down) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(repeated(plain_get, 3));
    EXPECT_TRUE((co_await client.stream().shutdown()).has_value());
    for (int i = 0; i < 3; ++i) EXPECT_EQ((co_await client.reply()).body, "hello");
    EXPECT_EQ(co_await client.rest(), "");
  });
}

TEST_P(connection_test, sends_the_answer_to_close_before_bytes_that_are_not_read) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" +
                         repeated(plain_get, 4'000));
    EXPECT_EQ((co_await client.reply()).body, "hello");
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ(client.last_error(), errc::closed);
    EXPECT_EQ(http().requests(), 1U);
  });
}

TEST_P(connection_test, sends_the_answer_to_close_before_bytes_that_come_later) {
  event_loop& turning = loop();
  http().get("/late", [&]() -> task<std::string> {
    for (int i = 0; i < 16; ++i) co_await yield{turning};
    co_return "hello";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /late HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < 8; ++i) co_await yield{loop()};
    co_await client.send("\r\n");
    EXPECT_EQ((co_await client.reply()).body, "hello");
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ(client.last_error(), errc::closed);
  });
}

TEST_P(connection_test, makes_no_more_replies_than_a_slow_reader_takes) {
  http().get("/large", [] { return std::string(200'000, 'b'); });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(repeated("GET /large HTTP/1.1\r\nHost: a\r\n\r\n", 100));
    std::uint64_t before = 0;
    // Until nothing moves any more: all that the kernel and the queue hold between them.
    for (int still = 0; still < 1'000; ++still) {
      co_await yield{loop()};
      if (http().requests() != before) still = 0;
      before = http().requests();
    }
    EXPECT_LT(before, GetParam() == backend_kind::simulated ? 3U : 60U);
    for (int i = 0; i < 100; ++i) EXPECT_EQ((co_await client.reply()).body.size(), 200'000U);
  });
}

class connection_in_memory : public in_memory {
 protected:
  void SetUp() override {
    in_memory::SetUp();
    add_routes();
  }
  void add_routes() {
    http().get("/", [] { return "hello"; }).post("/size", [](const request& r) {
      return r.body().size();
    });
  }
  [[nodiscard]] duration elapsed() { return loop().now() - started_; }
  void start_clock() { started_ = loop().now(); }

 private:
  time_point started_;
};

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(connection_in_memory, sends_pipelined_replies_in_one_write) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(repeated(plain_get, 16));
    const std::string all = co_await client.receive();
    std::size_t replies = 0;
    for (std::size_t at = all.find("HTTP/1.1 200"); at != all.npos;
         at = all.find("HTTP/1.1 200", at + 1))
      ++replies;
    EXPECT_EQ(replies, 16U);
    EXPECT_TRUE(all.ends_with("hello"));
  });
}

TEST_F(connection_in_memory, counts_the_time_of_a_head_from_its_first_byte) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.ask("GET", "/");
    co_await world().sleep(seconds{30});
    start_clock();
    co_await client.send("G");
    for (int i = 0; i < 9; ++i) {
      co_await world().sleep(seconds{1});
      co_await client.send("E");
    }
    const http_reply answer = co_await client.reply();
    EXPECT_EQ(answer.status, 408);
    EXPECT_EQ(answer.field("Connection"), "close");
    EXPECT_GE(elapsed(), seconds{10});
    EXPECT_LT(elapsed(), milliseconds{10'010}) << "however the bytes trickle in";
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ(client.last_error(), errc::closed);
  });
}

TEST_F(connection_in_memory, gives_the_next_head_a_time_of_its_own) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    for (int i = 0; i < 5; ++i) {
      co_await client.send("GET / HTTP/1.1\r\nHo");
      co_await world().sleep(seconds{9});
      co_await client.send("st: a\r\n\r\nGET / HTTP/1.1\r\nHo");
      co_await world().sleep(seconds{9});
      co_await client.send("st: a\r\n\r\n");
      EXPECT_EQ((co_await client.reply()).status, 200);
      EXPECT_EQ((co_await client.reply()).status, 200);
    }
  });
}

TEST_F(connection_in_memory, closes_who_never_asks_and_who_asks_no_more) {
  run([&]() -> task<void> {
    auto silent = co_await world().connect();
    start_clock();
    EXPECT_EQ(co_await silent.rest(), "") << "without a word";
    EXPECT_GE(elapsed(), seconds{10});
    EXPECT_LT(elapsed(), milliseconds{10'010});

    auto done = co_await world().connect();
    for (int i = 0; i < 3; ++i) {
      co_await done.ask("GET", "/");
      start_clock();
      if (i < 2) co_await world().sleep(seconds{59});
    }
    EXPECT_EQ(co_await done.rest(), "");
    EXPECT_GE(elapsed(), seconds{60});
    EXPECT_LT(elapsed(), milliseconds{60'010});
  });
}

TEST_F(connection_in_memory, times_a_body_between_its_pieces) {
  serve_within({.body_bytes_per_second = 0});
  add_routes();
  run([&]() -> task<void> {
    for (const char* framing : {"Content-Length: 100", "Transfer-Encoding: chunked"}) {
      auto client = co_await world().connect();
      co_await client.send("POST /size HTTP/1.1\r\nHost: a\r\n" + std::string{framing} +
                           "\r\n\r\n50\r\n");
      for (int i = 0; i < 10; ++i) {
        co_await world().sleep(seconds{4});
        co_await client.send("b");
      }
      start_clock();
      EXPECT_EQ((co_await client.reply()).status, 408) << framing;
      EXPECT_GE(elapsed(), milliseconds{4'990});
      EXPECT_LT(elapsed(), milliseconds{5'010});
      EXPECT_EQ(co_await client.rest(), "");
    }
  });
}

TEST_F(connection_in_memory, asks_a_handler_that_takes_too_long_to_stop) {
  event_loop& turning = loop();
  http().get("/sleep/{seconds}", [&](const request& r) -> task<result<std::string>> {
    const auto slept =
        co_await sleep_for(turning, seconds{std::stol(std::string{*r.parameter("seconds")})});
    if (!slept) co_return fail(slept.error());
    co_return "slept";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/sleep/29")).body, "slept");
    EXPECT_EQ((co_await client.ask("GET", "/sleep/29")).body, "slept") << "each has its own time";
    start_clock();
    const http_reply late = co_await client.ask("GET", "/sleep/31");
    EXPECT_EQ(late.status, 503);
    EXPECT_EQ(late.field("Connection"), "close");
    EXPECT_GE(elapsed(), seconds{30});
    EXPECT_LT(elapsed(), milliseconds{30'010});
    EXPECT_EQ(co_await client.rest(), "");
  });
}

TEST_F(connection_in_memory, cuts_off_who_takes_nothing_of_what_he_asked_for) {
  http().get("/large", [] { return std::string(500'000, 'b'); });
  run([&]() -> task<void> {
    auto slow = co_await world().connect();
    co_await slow.send(repeated("GET /large HTTP/1.1\r\nHost: a\r\n\r\n", 3));
    for (int i = 0; i < 10; ++i) {
      co_await world().sleep(seconds{25});
      EXPECT_FALSE((co_await slow.stream().read()).value().empty()) << "a little is enough";
    }
    EXPECT_EQ(http().connections(), 1U);
    co_await world().sleep(seconds{61});
    EXPECT_EQ(http().connections(), 0U) << "looked at every 30 seconds";
  });
}

TEST_F(connection_in_memory, lingers_for_a_while_and_no_longer) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("bad\r\n\r\n");
    EXPECT_EQ((co_await client.reply()).status, 400);
    start_clock();
    EXPECT_EQ(co_await client.rest(), "") << "its own side is closed at once";
    EXPECT_EQ(elapsed(), duration{});
    EXPECT_EQ(http().connections(), 1U);
    co_await world().sleep(milliseconds{1'900});
    EXPECT_EQ(http().connections(), 1U);
    co_await world().sleep(milliseconds{200});
    EXPECT_EQ(http().connections(), 0U);
  });
}

TEST_F(connection_in_memory, reads_what_a_refused_client_still_sends) {
  constexpr std::string_view head =
      "POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n";
  const std::string piece(1'000'000, 'x');
  run([&]() -> task<void> {
    {
      auto client = co_await world().connect();
      co_await client.send(head);
      for (int i = 0; i < 50; ++i) {
        co_await client.send(piece);
        co_await world().sleep(milliseconds{100});
      }
      EXPECT_EQ((co_await client.reply()).status, 413);
      EXPECT_EQ(co_await client.rest(), "");
      EXPECT_EQ(client.last_error(), errc::closed);
    }
    auto slow = co_await world().connect();
    co_await slow.send(head);
    EXPECT_EQ((co_await slow.reply()).status, 413);
    for (int i = 0; i < 9; ++i) {
      EXPECT_EQ(http().connections(), 1U);
      co_await slow.send("x");
      co_await world().sleep(seconds{1});
    }
    co_await world().sleep(seconds{2});
    EXPECT_EQ(http().connections(), 0U) << "ten seconds in all";
  });
}

TEST_F(connection_in_memory, closes_at_once_where_the_client_has_asked_for_the_end) {
  const auto left_behind = [this](std::string request) -> task<std::size_t> {
    auto client = co_await world().connect();
    co_await client.send(std::move(request));
    EXPECT_EQ((co_await client.reply()).status, 200);
    EXPECT_EQ(co_await client.rest(), "");
    const std::size_t open = http().connections();
    co_await world().sleep(seconds{3});
    EXPECT_EQ(http().connections(), 0U);
    co_return open;
  };
  run([&]() -> task<void> {
    EXPECT_EQ(co_await left_behind("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), 0U);
    EXPECT_EQ(co_await left_behind("POST /size HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                                   "Content-Length: 2\r\n\r\nab"),
              1U)
        << "behind a body some send an empty line";
  });
}

TEST_F(connection_in_memory, lingers_after_a_timeout_too) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET");
    EXPECT_EQ((co_await client.reply()).status, 408);
    co_await client.send(" / HTTP/1.1\r\n");
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ(client.last_error(), errc::closed);
    EXPECT_EQ(http().connections(), 1U);
  });
}

TEST_F(connection_in_memory, does_not_keep_what_chunks_are_wrapped_in) {
  if (WEFT_ADDRESS_SANITIZER != 0) GTEST_SKIP() << "frames count in this build";
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("POST /size HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string piece =
        repeated("1;" + std::string(250, 'e') + "\r\nb\r\n", 8);  // fits a buffer
    const testing::allocation_counter since;
    for (int i = 0; i < 2'000; ++i) co_await client.send(piece);
    co_await client.send("0\r\n\r\n");
    EXPECT_EQ((co_await client.reply()).body, "16000");
    EXPECT_LT(since.allocated_bytes(), 2'000'000U) << "of four megabytes on the wire";
  });
}

}  // namespace
}  // namespace weft::http
