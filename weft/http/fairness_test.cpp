// How much of one connection's work is done before another one has its turn: counted, in memory,
// where what is sent at once comes at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tests/conformance/websocket_peer.hpp>
#include <weft/http/http2/http2_peer_test.hpp>
#include <weft/http/request.hpp>
#include <weft/http/response.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/http2_client.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::http2_client;
using testing::repeated;

constexpr std::size_t flood_requests = 100;
constexpr std::int32_t wide_open = 100'000'000;

class fairness_test : public testing::in_memory {
 protected:
  void SetUp() override {
    in_memory::SetUp();
    serve_routes();
  }

  void serve_routes() {
    const std::string page(10'000, 'p');
    http().get("/page", [this, page] {
      ++worked_;
      return page;
    });
    http().get("/small", [this] {
      ++worked_;
      return "small";
    });
    http().get("/task", [this]() -> task<std::string> {
      ++worked_;
      co_await yield{loop()};
      co_return "done";
    });
    http().get("/other-task", [this]() -> task<std::string> {
      worked_before_other_ = worked_;
      co_return "other";
    });
    http().get("/other", [this] {
      worked_before_other_ = worked_;
      return "other";
    });
  }

  /// The flood and, behind it, one request over another connection; gives how many requests of the
  /// flood were begun before that was answered.
  task<std::size_t> race_http1(std::string_view path, std::string_view other_path = "/other") {
    auto flood = co_await world().connect();
    auto other = co_await world().connect();
    EXPECT_EQ((co_await other.ask("GET", "/small")).status, 200);
    worked_ = 0;
    co_await flood.send(
        repeated("GET " + std::string{path} + " HTTP/1.1\r\nHost: a\r\n\r\n", flood_requests));
    EXPECT_EQ((co_await other.ask("GET", other_path)).body, "other");
    for (std::size_t i = 0; i < flood_requests; ++i)
      EXPECT_EQ((co_await flood.reply()).status, 200);
    EXPECT_EQ(worked_, flood_requests);
    co_return worked_before_other_;
  }

  /// That, over HTTP/2, by several connections at once.
  task<std::size_t> race_http2(std::string_view path, std::size_t connections = 1,
                               std::string_view other_path = "/other") {
    std::vector<std::unique_ptr<http2_client>> floods;
    for (std::size_t i = 0; i < connections; ++i) {
      floods.push_back(
          std::make_unique<http2_client>(std::move((co_await world().connect()).stream()),
                                         http2_client::settings{.stream_window_bytes = wide_open}));
      nghttp2_submit_window_update(floods.back()->library(), 0, 0, wide_open);
      EXPECT_EQ((co_await floods.back()->ask("GET", "/small")).status, 200);
    }
    auto other = co_await world().connect();
    EXPECT_EQ((co_await other.ask("GET", "/small")).status, 200);
    worked_ = 0;
    std::vector<std::int32_t> last;
    for (auto& each : floods) {
      for (std::size_t i = 1; i < flood_requests; ++i) each->begin("GET", path);
      last.push_back(each->begin("GET", path));
      co_await each->send();
    }
    EXPECT_EQ((co_await other.ask("GET", other_path)).body, "other");
    for (std::size_t i = 0; i < connections; ++i) {
      EXPECT_EQ((co_await floods[i]->reply(last[i])).status, 200);
    }
    co_return worked_before_other_;
  }

  std::size_t worked_ = 0;
  std::size_t worked_before_other_ = 0;
};

TEST_F(fairness_test, pipelined_pages_let_another_connection_in_after_each) {
  run([&]() -> task<void> { EXPECT_LE(co_await race_http1("/page"), 2U); });
}

TEST_F(fairness_test, pipelined_small_replies_are_given_sixteen_at_a_time) {
  run([&]() -> task<void> { EXPECT_LE(co_await race_http1("/small"), 32U); });
}

TEST_F(fairness_test, pipelined_tasks_let_another_connection_in_after_each) {
  run([&]() -> task<void> { EXPECT_LE(co_await race_http1("/task", "/other-task"), 2U); });
}

TEST_F(fairness_test, pages_over_http2_let_another_connection_in_after_each) {
  run([&]() -> task<void> { EXPECT_LE(co_await race_http2("/page"), 2U); });
}

TEST_F(fairness_test, small_replies_over_http2_are_given_sixteen_at_a_time) {
  run([&]() -> task<void> { EXPECT_LE(co_await race_http2("/small"), 32U); });
}

TEST_F(fairness_test, tasks_over_http2_begin_one_by_one) {
  run([&]() -> task<void> { EXPECT_LE(co_await race_http2("/task", 1, "/other-task"), 2U); });
}

TEST_F(fairness_test, many_floods_have_their_turn_once_each) {
  constexpr std::size_t connections = 20;
  run([&]() -> task<void> {
    EXPECT_LE(co_await race_http2("/page", connections), 2 * connections);
  });
}

/// Requests that come with the preface of a connection are no others.
TEST_F(fairness_test, requests_behind_a_preface_take_turns_too) {
  run([&]() -> task<void> {
    auto other = co_await world().connect();
    EXPECT_EQ((co_await other.ask("GET", "/small")).status, 200);
    http2_client flood{std::move((co_await world().connect()).stream()),
                       {.stream_window_bytes = wide_open}};
    worked_ = 0;
    std::int32_t last = 0;
    for (std::size_t i = 0; i < flood_requests; ++i) last = flood.begin("GET", "/page");
    co_await flood.send();
    EXPECT_EQ((co_await other.ask("GET", "/other")).body, "other");
    EXPECT_LE(worked_before_other_, 2U);
    EXPECT_EQ((co_await flood.reply(last)).status, 200);
  });
}

/// Replies that wait for a client's window are made in turns as well.
TEST_F(fairness_test, a_closed_window_does_not_change_the_turns) {
  run([&]() -> task<void> {
    auto other = co_await world().connect();
    EXPECT_EQ((co_await other.ask("GET", "/small")).status, 200);
    http2_client flood{std::move((co_await world().connect()).stream()),
                       {.stream_window_bytes = 0}};
    worked_ = 0;
    for (std::size_t i = 0; i < flood_requests; ++i) flood.begin("GET", "/page");
    co_await flood.send();
    EXPECT_EQ((co_await other.ask("GET", "/other")).body, "other");
    EXPECT_LE(worked_before_other_, 2U);
  });
}

TEST_F(fairness_test, messages_of_a_websocket_are_given_some_at_a_time) {
  constexpr std::size_t messages = 2'000;
  std::size_t in_turn = 0;
  std::size_t most_in_turn = 0;
  http().websocket("/count", [&](websocket& socket) -> task<void> {
    for (std::uint64_t turn = 0; co_await socket.read(); ++worked_) {
      in_turn = loop().turns() == turn ? in_turn + 1 : 1;
      turn = loop().turns();
      most_in_turn = std::max(most_in_turn, in_turn);
    }
  });
  run([&]() -> task<void> {
    ws::websocket_peer flood{co_await world().connect(), loop()};
    EXPECT_EQ(co_await flood.shake_hands("/count"), 101);
    worked_ = 0;
    // Masked by zeros: "\x81\x81", the mask, "x".
    co_await flood.client().send(repeated(std::string_view{"\x81\x81\0\0\0\0x", 7}, messages));
    while (worked_ < messages) std::ignore = co_await sleep_for(loop(), std::chrono::seconds{1});
  });
  EXPECT_LE(most_in_turn, 64U);
}

TEST_F(fairness_test, a_long_body_is_taken_in_many_turns) {
  std::uint64_t ended_in = 0;
  http().post("/long", [&](const request&) {
    ended_in = loop().turns();
    return "taken";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const std::uint64_t began_in = loop().turns();
    co_await client.send("POST /long HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n" +
                         std::string(1'048'576, 'b'));
    EXPECT_EQ((co_await client.reply()).body, "taken");
    EXPECT_GE(ended_in - began_in, 8U) << "at most two pieces of 64 KiB a turn";
  });
}

/// Nobody else is there: the bytes between two turns of the loop are bounded all the same.
TEST_F(fairness_test, a_turn_of_the_loop_ends_after_so_many_bytes) {
  std::vector<std::uint64_t> turns;
  http().get("/large", [&] {
    turns.push_back(loop().turns());
    return std::string(64 * 1024, 'l');
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(repeated("GET /large HTTP/1.1\r\nHost: a\r\n\r\n", 20));
    for (int i = 0; i < 20; ++i) EXPECT_EQ((co_await client.reply()).body.size(), 64U * 1024);
  });
  ASSERT_EQ(turns.size(), 20U);
  // The first task of a turn may be followed by one that has given way.
  for (std::size_t i = 2; i < turns.size(); ++i) EXPECT_GT(turns[i], turns[i - 2]);
}

}  // namespace
}  // namespace weft::http
