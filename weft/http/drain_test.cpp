// How a server stops: nobody who was let in is left without an answer, and nobody waits for ever.
#include <weft/http/server.hpp>

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include <weft/coro/scope.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::each_backend;
using testing::http_client;
using testing::http_reply;
using testing::in_memory;
using testing::plain_get;
using testing::repeated;

constexpr duration soon = std::chrono::milliseconds{20};

/// Stops `http` as a program does: with a deadline.
task<void> stop_within(http::server& http, duration time) {
  environment bounded = co_await this_task::environment();
  bounded.until = deadline::at(event_loop::current().now() + time);
  EXPECT_TRUE((co_await http.stop().in(bounded)).has_value());
}

/// What is logged while it lives.
class captured_log {
 public:
  captured_log() {
    log::set_level(log::level::warning);
    log::set_sink(&keep, this);
  }
  captured_log(const captured_log&) = delete;
  captured_log& operator=(const captured_log&) = delete;
  ~captured_log() {
    log::set_sink(nullptr, nullptr);
    log::set_level(log::level::off);
  }
  [[nodiscard]] bool has(std::string_view part) const {
    return text_.find(part) != std::string::npos;
  }

 private:
  static void keep(log::level, std::string_view line, void* self) {
    static_cast<captured_log*>(self)->text_ += std::string{line} + "\n";
  }
  std::string text_;
};

class drain_test : public each_backend {
 protected:
  /// Begins to stop, and returns: the end is `stopping`'s.
  void begin_to_stop(scope& stopping, duration time = std::chrono::seconds{10}) {
    stopping.spawn(stop_within(http(), time));
  }
  /// For the kernel to have its turns, too.
  task<void> turns(int count) {
    for (; count > 0; --count) {
      const std::uint64_t now = loop().turns();
      while (loop().turns() == now) co_await yield{loop()};
    }
  }
  /// That nothing more comes but a proper end; and goes, so that the server need not wait for it.
  static task<void> expect_end(http_client& client) {
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ(client.last_error(), errc::closed);
    std::ignore = co_await client.stream().close();
  }
  task<void> until_requests(std::uint64_t count) {
    while (http().requests() < count) co_await yield{loop()};
  }
};
INSTANTIATE_TEST_SUITE_P(on, drain_test, backends, backend_name);

/// Where what comes when is exact. The grace is the default.
class drain_in_memory : public in_memory {
 protected:
  void SetUp() override {
    in_memory::SetUp();
    serve(backend_kind::simulated, http::server_options{});
  }
};

TEST_P(drain_test, ends_idle_connections_in_good_order) {
  http().get("/", [] { return "answer"; });
  run([&]() -> task<void> {
    std::vector<http_client> clients;
    for (int i = 0; i < 10; ++i) {
      clients.push_back(co_await world().connect());
      co_await clients.back().ask("GET", "/");
    }
    clients.push_back(co_await world().connect());  // has never asked for anything
    while (http().connections() != clients.size()) co_await yield{loop()};
    scope stopping{co_await this_task::environment()};
    begin_to_stop(stopping);
    for (http_client& client : clients) co_await expect_end(client);
    co_await stopping.join();
    EXPECT_EQ(http().connections(), 0U);
  });
}

// Some clients end a body with an empty line that is no part of it (RFC 9112 section 2.2).
TEST_P(drain_test, takes_an_empty_line_for_no_request) {
  http().post("/", [](const request& r) { return std::string{r.body()}; });
  for (const std::string_view behind : {"\r\n", "\r"}) {
    serve_within({});
    http().post("/", [](const request& r) { return std::string{r.body()}; });
    run([&]() -> task<void> {
      auto client = co_await world().connect();
      co_await client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi" +
                           std::string{behind});
      EXPECT_EQ((co_await client.reply()).body, "hi");
      co_await turns(20);
      const time_point before = loop().now();
      scope stopping{co_await this_task::environment()};
      begin_to_stop(stopping);
      co_await expect_end(client);
      co_await stopping.join();
      EXPECT_LT(loop().now() - before, std::chrono::seconds{5}) << "the deadline is ten";
    });
  }
}

TEST_F(drain_in_memory, obeys_the_earlier_deadline_of_a_second_stop) {
  event_loop& turning = loop();
  http().get("/", [&]() -> task<std::string> {
    co_await until_stopped{turning};
    co_return "asked to end";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(plain_get);
    while (http().requests() == 0) co_await yield{loop()};
    scope stopping{co_await this_task::environment()};
    stopping.spawn(stop_within(http(), std::chrono::hours{1}));
    co_await yield{loop()};
    const time_point before = loop().now();
    co_await stop_within(http(), std::chrono::seconds{1});
    EXPECT_LT(loop().now() - before, std::chrono::seconds{5});
    co_await stopping.join();
  });
}

TEST_P(drain_test, lets_a_running_handler_finish_without_asking_it_to_stop) {
  event_loop& turning = loop();
  bool released = false;
  http().get("/", [&]() -> task<result<std::string>> {
    while (!released) {
      if (auto slept = co_await sleep_for(turning, std::chrono::milliseconds{1}); !slept)
        co_return fail(slept.error());
    }
    co_return std::string{"the last word"};
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(plain_get);
    co_await until_requests(1);
    scope stopping{co_await this_task::environment()};
    begin_to_stop(stopping);
    co_await turns(10);
    co_await world().sleep(soon);
    released = true;
    const http_reply answer = co_await client.reply();
    EXPECT_EQ(answer.body, "the last word");
    EXPECT_EQ(answer.field("Connection"), "close");
    co_await expect_end(client);
    co_await stopping.join();
  });
}

TEST_P(drain_test, asks_a_handler_to_stop_at_the_deadline_and_sends_its_reply) {
  event_loop& turning = loop();
  bool asked_to_stop = false;
  http().get("/", [&]() -> task<std::string> {
    co_await until_stopped{turning};
    asked_to_stop = true;
    co_return "the last word";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(plain_get);
    co_await until_requests(1);
    co_await stop_within(http(), soon);
    EXPECT_TRUE(asked_to_stop);
    const http_reply answer = co_await client.reply();
    EXPECT_EQ(answer.body, "the last word");
    EXPECT_EQ(answer.field("Connection"), "close");
    EXPECT_EQ(co_await client.rest(), "");
  });
}

TEST_P(drain_test, answers_all_pipelined_requests_and_says_close_in_the_last) {
  event_loop& turning = loop();
  bool released = false;
  http().get("/", [&]() -> task<std::string> {
    while (!released) co_await yield{turning};
    co_return "answer";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(repeated(plain_get, 200));  // more than one buffer takes
    co_await until_requests(1);
    scope stopping{co_await this_task::environment()};
    begin_to_stop(stopping);
    co_await turns(10);
    released = true;
    for (int left = 200; left > 0; --left) {
      const http_reply answer = co_await client.reply();
      EXPECT_EQ(answer.body, "answer");
      EXPECT_EQ(answer.field("Connection").has_value(), left == 1) << left;
    }
    co_await expect_end(client);
    co_await stopping.join();
  });
}

TEST_P(drain_test, answers_what_came_while_a_handler_ran) {
  event_loop& turning = loop();
  bool released = false;
  http().get("/", [&]() -> task<std::string> {
    while (!released) co_await yield{turning};
    co_return "answer";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(plain_get);
    co_await until_requests(1);
    scope stopping{co_await this_task::environment()};
    begin_to_stop(stopping);
    co_await turns(10);
    co_await client.send(plain_get);  // nobody reads it until the first is answered
    co_await turns(10);
    released = true;
    EXPECT_FALSE((co_await client.reply()).field("Connection").has_value());
    EXPECT_EQ((co_await client.reply()).field("Connection"), "close");
    co_await expect_end(client);
    co_await stopping.join();
  });
}

TEST_P(drain_test, cuts_pipelined_requests_at_the_deadline) {
  event_loop& turning = loop();
  http().get("/", [&]() -> task<std::string> {
    co_await until_stopped{turning};
    co_return "last";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(repeated(plain_get, 5));
    co_await until_requests(1);
    co_await stop_within(http(), soon);
    const http_reply answer = co_await client.reply();
    EXPECT_EQ(answer.body, "last");
    EXPECT_EQ(answer.field("Connection"), "close")
        << "so the client knows that the others were not";
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ(http().requests(), 1U);
  });
}

TEST_P(drain_test, waits_for_the_rest_of_a_request) {
  constexpr std::string_view whole =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789";
  for (const std::size_t cut : {std::size_t{7}, whole.size() - 3}) {
    serve(GetParam());
    http().post("/", [](const request& r) { return std::string{r.body()}; });
    run([&]() -> task<void> {
      auto client = co_await world().connect();
      co_await client.send(whole.substr(0, cut));
      co_await turns(10);
      scope stopping{co_await this_task::environment()};
      begin_to_stop(stopping);
      co_await world().sleep(soon);
      co_await client.send(whole.substr(cut));
      const http_reply answer = co_await client.reply();
      EXPECT_EQ(answer.body, "0123456789") << cut;
      EXPECT_EQ(answer.field("Connection"), "close") << cut;
      co_await expect_end(client);
      co_await stopping.join();
    });
  }
}

TEST_P(drain_test, cuts_who_does_not_finish_a_request_and_names_him) {
  const captured_log log;
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET / HT");
    auto other = co_await world().connect();
    co_await other.send("POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1");
    while (http().connections() != 2) co_await yield{loop()};
    co_await turns(10);
    co_await stop_within(http(), soon);
    EXPECT_EQ(http().connections(), 0U);
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ((co_await other.reply()).status, 503);
    EXPECT_EQ(co_await other.rest(), "");
    EXPECT_TRUE(log.has("2 connections are cut: "));
    EXPECT_TRUE(log.has(client.stream().local_endpoint()->to_string() +
                        " has sent a part of a request's head"));
    EXPECT_TRUE(
        log.has(other.stream().local_endpoint()->to_string() + " has sent a part of POST /b"));
  });
}

/// A byte every now and then, until it is asked to stop.
task<void> keep_sending(http_client& client, event_loop& loop) {
  do {
    co_await client.send("b");
  } while (co_await sleep_for(loop, std::chrono::milliseconds{1}));
}

TEST_P(drain_test, tells_who_is_still_sending_at_the_deadline_and_resets_nobody) {
  http().post("/whole", [](const request& asked) { return asked.body().size(); });
  http().post("/streamed", [](body_reader& body) -> task<result<void>> {
    while (co_await body.read()) {}
    co_return body.outcome();
  });
  run([&]() -> task<void> {
    std::vector<http_client> clients;
    for (const std::string_view path : {"/whole", "/streamed"}) {
      clients.push_back(co_await world().connect());
      co_await clients.back().send("POST " + std::string{path} +
                                   " HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
    }
    while (http().connections() != clients.size()) co_await yield{loop()};
    co_await turns(10);
    scope sending{co_await this_task::environment()};
    for (http_client& client : clients) sending.spawn(keep_sending(client, loop()));
    scope stopping{co_await this_task::environment()};
    begin_to_stop(stopping, soon);
    for (http_client& client : clients) {
      const http_reply answer = co_await client.reply();
      EXPECT_EQ(answer.status, 503);
      EXPECT_EQ(answer.field("Connection"), "close");
    }
    sending.request_stop();
    co_await sending.join();
    for (http_client& client : clients) co_await expect_end(client);
    co_await stopping.join();
  });
}

TEST_P(drain_test, names_the_handler_it_waits_for) {
  const captured_log log;
  event_loop& turning = loop();
  http().get("/slow", [&]() -> task<std::string> {
    co_await until_stopped{turning};
    co_return "";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    co_await until_requests(1);
    co_await stop_within(http(), soon);
    EXPECT_TRUE(log.has("1 connection is cut: "));
    EXPECT_TRUE(log.has(" waits for the handler of GET /slow"));
  });
}

TEST_P(drain_test, refuses_newcomers) {
  event_loop& turning = loop();
  bool released = false;
  http().get("/", [&]() -> task<std::string> {
    while (!released) co_await yield{turning};
    co_return "the last word";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(plain_get);
    co_await until_requests(1);
    scope stopping{co_await this_task::environment()};
    begin_to_stop(stopping);
    error refusal = errc::closed;
    for (int turn = 0; turn < 1'000 && refusal != errc::refused; ++turn) {
      co_await yield{loop()};
      auto late = co_await net::tcp_stream::connect(loop(), http().local_endpoint());
      if (!late) refusal = late.error();
    }
    EXPECT_EQ(refusal, errc::refused);
    released = true;
    EXPECT_EQ((co_await client.reply()).body, "the last word");
    co_await expect_end(client);
    co_await stopping.join();
  });
}

TEST_P(drain_test, happens_once_and_all_who_ask_for_it_wait) {
  event_loop& turning = loop();
  bool released = false;
  http().get("/", [&]() -> task<std::string> {
    while (!released) co_await yield{turning};
    co_return "";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(plain_get);
    co_await until_requests(1);
    scope stopping{co_await this_task::environment()};
    for (int i = 0; i < 3; ++i) begin_to_stop(stopping);
    co_await turns(10);
    EXPECT_EQ(stopping.active(), 3U);
    released = true;
    EXPECT_EQ((co_await client.reply()).status, 200);
    co_await expect_end(client);
    co_await stopping.join();
    EXPECT_TRUE((co_await http().stop()).has_value());
    EXPECT_EQ((co_await net::tcp_stream::connect(loop(), http().local_endpoint())).error(),
              errc::refused);
  });
}

TEST_P(drain_test, sends_what_is_queued_before_the_end) {
  const std::string large(100'000, 'x');  // less than a connection queues, more than memory's pipe
  http().get("/", [&] { return large; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(plain_get);
    co_await until_requests(1);
    co_await turns(10);
    scope stopping{co_await this_task::environment()};
    begin_to_stop(stopping);
    co_await turns(10);
    EXPECT_EQ((co_await client.reply()).body, large);
    co_await expect_end(client);
    co_await stopping.join();
  });
}

TEST_F(drain_in_memory, gives_up_a_client_that_takes_nothing_soon_after_the_deadline) {
  const std::string large(10'000'000, 'x');
  http().get("/", [&] { return large; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(plain_get);
    while (http().requests() == 0) co_await yield{loop()};
    co_await stop_within(http(), std::chrono::seconds{1});
    std::ignore = co_await sleep_for(loop(), std::chrono::seconds{1});
    EXPECT_LT((co_await client.rest()).size(), large.size());
  });
}

TEST_F(drain_in_memory, lets_in_who_stands_in_line) {
  http().get("/", [] { return "in"; });
  run([&]() -> task<void> {
    std::vector<http_client> clients;
    for (int i = 0; i < 20; ++i) {  // at once: no other task has its turn
      clients.push_back(co_await world().connect());
      co_await clients.back().send(plain_get);
    }
    EXPECT_EQ(http().connections(), 0U);
    co_await http().stop();
    for (http_client& client : clients) {
      const http_reply answer = co_await client.reply();
      EXPECT_EQ(answer.body, "in");
      EXPECT_EQ(answer.field("Connection"), "close");
      EXPECT_EQ(co_await client.rest(), "");
      EXPECT_EQ(client.last_error(), errc::closed);
    }
  });
}

TEST_F(drain_in_memory, answers_a_request_that_comes_within_the_grace) {
  http().get("/", [] { return "in time"; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_FALSE((co_await client.ask("GET", "/")).field("Connection").has_value());
    scope stopping{co_await this_task::environment()};
    stopping.spawn(stop_within(http(), std::chrono::seconds{10}));
    co_await world().sleep(std::chrono::milliseconds{90});
    const http_reply answer = co_await client.ask("GET", "/");
    EXPECT_EQ(answer.body, "in time");
    EXPECT_EQ(answer.field("Connection"), "close");
    co_await stopping.join();
  });
}

TEST_F(drain_in_memory, ends_who_is_idle_after_the_grace_and_not_before) {
  http().get("/", [] { return ""; });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.ask("GET", "/");
    scope stopping{co_await this_task::environment()};
    stopping.spawn(stop_within(http(), std::chrono::seconds{10}));
    const time_point before = loop().now();
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ(client.last_error(), errc::closed);
    EXPECT_GE(loop().now() - before, std::chrono::milliseconds{100});
    EXPECT_LT(loop().now() - before, std::chrono::milliseconds{110});
    co_await client.send(plain_get);  // too late: but no reset for that, either
    EXPECT_EQ(co_await client.rest(), "");
    EXPECT_EQ(client.last_error(), errc::closed);
    co_await stopping.join();
    EXPECT_EQ(http().requests(), 1U);
  });
}

}  // namespace
}  // namespace weft::http
