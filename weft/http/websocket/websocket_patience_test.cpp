// How long WebSockets of the server wait for what, in virtual time.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tests/conformance/websocket_peer.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/http/server.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http::ws {
namespace {

using namespace std::chrono_literals;

task<void> echo_patiently(websocket& socket) {
  while (auto message = co_await socket.read())
    if (!co_await socket.send(*message)) co_return;
}

class websocket_patience_test : public testing::in_memory {
 protected:
  task<websocket_peer> open(std::string_view path = "/") {
    websocket_peer peer{co_await world().connect(), loop()};
    EXPECT_EQ(co_await peer.shake_hands(path), 101);
    co_return peer;
  }
};

/// Who goes on after errc::timed_out or errc::cancelled, as he may, would do so for ever.
TEST_F(websocket_patience_test, one_that_is_over_is_neither_late_nor_cancelled) {
  std::vector<error> unanswered;
  http().websocket("/",
                   [&](websocket& socket) -> task<void> {
                     unanswered.push_back((co_await socket.close()).error());
                     unanswered.push_back((co_await socket.read()).error());
                     unanswered.push_back((co_await socket.send("late")).error());
                     unanswered.push_back((co_await socket.send_part({}, true)).error());
                   },
                   {.limits = {.close_timeout = 2s}});
  error cut{errc::unavailable};
  http().websocket("/cut",
                   [&](websocket& socket) -> task<void> {
                     EXPECT_FALSE(co_await socket.read());
                     cut = (co_await socket.send("late")).error();
                   },
                   {.limits = {.close_timeout = 1h}});
  run([&]() -> task<void> {
    auto peer = co_await open();
    EXPECT_EQ(co_await peer.event(), "close 1000 ");
    EXPECT_EQ(co_await peer.event(), "end");
    auto silent = co_await open("/cut");
    std::ignore = co_await with_timeout(3s, http().stop());
    EXPECT_EQ(co_await silent.event(), "close 1001 the server ends");
    EXPECT_EQ(co_await silent.event(), "end");
  });
  EXPECT_EQ(unanswered, std::vector<error>(4, errc::reset));
  EXPECT_EQ(cut, errc::reset);
}

TEST_F(websocket_patience_test, cuts_who_takes_nothing_of_what_is_sent) {
  for (const bool also_pings : {false, true}) {
    serve(backend_kind::simulated);
    result<void> sent;
    duration took{};
    http().websocket("/", [&](websocket& socket) -> task<void> {
      const time_point begun = loop().now();
      const std::string text(10'000, 'x');
      while (sent) sent = co_await socket.send(text);
      took = loop().now() - begun;
    });
    run([&]() -> task<void> {
      auto peer = co_await open();
      std::ignore = co_await sleep_for(loop(), 1s);
      if (also_pings) co_await peer.send(opcode::ping, "behind all that");
      std::ignore = co_await sleep_for(loop(), 2min);
    });
    EXPECT_TRUE(!sent && sent.error() == errc::reset);
    EXPECT_GE(took, 30s);
    EXPECT_LT(took, 61s);
  }
}

/// One whose messages are not read cannot be heard, but seen.
TEST_F(websocket_patience_test, cuts_who_takes_nothing_while_he_sends) {
  bool has_ended = false;
  http().websocket("/", [&](websocket& socket) -> task<void> {
    co_await echo_patiently(socket);
    has_ended = true;
  });
  run([&]() -> task<void> {
    auto peer = co_await open();
    scope sending{co_await this_task::environment()};
    sending.spawn([](websocket_peer& p) -> task<void> {
      const std::string text(3000, 'x');
      for (int i = 0; i != 3000; ++i) co_await p.send_text(text);
    }(peer));
    std::ignore = co_await sleep_for(loop(), 2min);
    EXPECT_TRUE(has_ended);
    sending.request_stop();
    co_await sending.join();
  });
}

TEST_F(websocket_patience_test, lets_a_slow_reader_take_a_large_message) {
  constexpr std::size_t size = 2'000'000;
  error read_gave{errc::unavailable};
  http().websocket("/", [&](websocket& socket) -> task<void> {
    EXPECT_TRUE(co_await socket.send_binary(std::string(size, 'z')));
    read_gave = (co_await socket.read()).error();
  });
  run([&]() -> task<void> {
    auto peer = co_await open();
    std::size_t received = 0;
    while (received < size) {
      const std::string more = co_await peer.client().receive();
      if (more.empty()) break;
      received += more.size();
      std::ignore = co_await sleep_for(loop(), 50us * more.size());  // 20 kB/s
    }
    EXPECT_GE(received, size);
    co_await peer.send(opcode::close, close_payload(1000));
    EXPECT_EQ(co_await peer.client().rest(), std::string_view("\x88\x02\x03\xe8", 4));
  });
  EXPECT_EQ(read_gave, errc::closed);
}

/// The other end takes what one read gives, every so often.
class websocket_rate_test : public websocket_patience_test {
 protected:
  /// For how long the server sends to a peer that reads once in `pause`, within `longest`.
  duration let_read(websocket_limits limits, duration pause, duration longest) {
    serve(backend_kind::simulated);
    limits.ping_interval = duration::max();
    std::optional<time_point> cut;
    http().websocket("/",
                     [&](websocket& socket) -> task<void> {
                       const std::string text(10'000, 'x');
                       while (co_await socket.send(text)) {}
                       cut = loop().now();
                     },
                     {.limits = limits});
    duration let{};
    run([&]() -> task<void> {
      auto peer = co_await open();
      const time_point began = loop().now();
      while (!cut && loop().now() - began < longest) {
        std::ignore = co_await sleep_for(loop(), pause);
        std::ignore = co_await with_timeout(1ms, peer.client().receive());
      }
      let = cut.value_or(loop().now()) - began;
    });
    return let;
  }
};

constexpr std::size_t taken_by_a_read = 16 * 1024;

TEST_F(websocket_rate_test, cuts_a_peer_that_takes_less_than_the_rate) {
  const duration let = let_read({.send_bytes_per_second = 2 * taken_by_a_read / 10}, 10s, 1h);
  EXPECT_GE(let, 30s);
  EXPECT_LE(let, 90s) << "twice the time of a look, and what the kernel takes before";
}

TEST_F(websocket_rate_test, lets_a_peer_go_on_that_takes_the_rate) {
  EXPECT_GE(let_read({.send_bytes_per_second = taken_by_a_read / 20}, 10s, 1h), 1h);
}

TEST_F(websocket_rate_test, wants_a_byte_where_the_rate_is_zero) {
  EXPECT_GE(let_read({.send_bytes_per_second = 0}, 29s, 1h), 1h);
  EXPECT_LE(let_read({.send_bytes_per_second = 0}, 5min, 1h), 5min);
}

/// Parts of two tasks: what one has not begun, the other does not continue.
TEST_F(websocket_patience_test, a_part_that_is_late_leaves_no_message_without_a_beginning) {
  http().websocket("/", [&](websocket& socket) -> task<void> {
    const std::string text(10'000, 'x');
    while (co_await with_timeout(1ms, socket.send_part({message_kind::text, text}, true))) {}
    scope both{co_await this_task::environment()};
    both.spawn([](websocket& s) -> task<void> {
      const auto late = co_await with_timeout(1s, s.send_part({message_kind::text, "one "}, false));
      EXPECT_TRUE(!late && late.error() == errc::timed_out);
    }(socket));
    both.spawn([](websocket& s) -> task<void> {
      EXPECT_TRUE(co_await s.send_part({message_kind::text, "two"}, true));
    }(socket));
    co_await both.join();
  });
  run([&]() -> task<void> {
    auto peer = co_await open();
    std::ignore = co_await sleep_for(loop(), 2s);
    std::string seen = "text of 10000 bytes";
    while (seen == "text of 10000 bytes") seen = co_await peer.event();
    EXPECT_EQ(seen, "text two");
  });
}

TEST_F(websocket_patience_test, waits_for_ever_where_it_is_told_to) {
  http().websocket("/", &echo_patiently,
                   {.limits = {.message_bytes = SIZE_MAX,
                               .ping_interval = duration::max(),
                               .pong_timeout = duration::max(),
                               .write_stall_timeout = duration::max(),
                               .close_timeout = duration::max()}});
  run([&]() -> task<void> {
    auto peer = co_await open();
    std::ignore = co_await sleep_for(loop(), 1h);
    co_await peer.send_text("still there");
    EXPECT_EQ(co_await peer.event(), "text still there");
    co_await peer.send(opcode::close, close_payload(1000));
    EXPECT_EQ(co_await peer.event(), "close 1000 ");
    EXPECT_EQ(co_await peer.event(), "end");
  });
}

TEST_F(websocket_patience_test, is_not_made_of_options_that_make_no_sense) {
  const auto refused = [&](websocket_options options) -> std::string {
    try {
      http().websocket("/", &echo_patiently, std::move(options));
    } catch (const std::invalid_argument& why) {
      return why.what();
    }
    return "taken";
  };
  EXPECT_EQ(refused({.limits = {.ping_interval = 0s}}),
            "websocket_limits::ping_interval is 0 ns: at least 1 ms");
  EXPECT_EQ(refused({.limits = {.pong_timeout = -1s}}),
            "websocket_limits::pong_timeout is -1000000000 ns: at least 1 ms");
  EXPECT_TRUE(refused({.limits = {.close_timeout = 1us}}).contains("close_timeout"));
  EXPECT_TRUE(refused({.limits = {.write_stall_timeout = 0s}}).contains("write_stall_timeout"));
  EXPECT_EQ(refused({.limits = {.message_bytes = 0}}),
            "websocket_limits::message_bytes is 0: at least 1");
  EXPECT_EQ(refused({.subprotocols = {"chat", "chat v2"}}),
            "websocket_options::subprotocols has \"chat v2\": each is a token (RFC 9110 section "
            "5.6.2)");
}

}  // namespace
}  // namespace weft::http::ws
