// HTTP/2 where the shard is short of memory: in memory, in virtual time.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include <weft/base/memory_budget.hpp>
#include <weft/coro/event.hpp>
#include <weft/http/body_writer.hpp>
#include <weft/http/request.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/http2_client.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http::http2 {
namespace {

using testing::http2_client;
using namespace std::chrono_literals;

constexpr std::size_t limit_bytes = std::size_t{64} << 20U;
constexpr std::size_t low_bytes = limit_bytes / 2;  // what bodies may take

class http2_server_memory : public testing::in_memory {
 protected:
  void SetUp() override {
    in_memory::SetUp();
    serve_within({.http2 = {.stream_window_bytes = 65'535, .connection_window_bytes = 65'535}});
    memory().budget().set_limit(limit_bytes);
    http().post("/size", [](const request& r) { return std::to_string(r.body().size()); });
    http().get("/much", [] { return std::string(100'000, 'x'); });
    http().get("/news", [this](body_writer& out) -> task<result<void>> {
      if (auto sent = co_await out.write("news"); !sent) co_return sent;
      co_return co_await may_end_.wait();
    });
  }
  void TearDown() override {
    memory().budget().set_limit(memory_budget::unlimited);
    in_memory::TearDown();
  }

  [[nodiscard]] memory_share& memory() noexcept { return loop().memory(); }
  task<net::tcp_stream> connected() { co_return std::move((co_await world().connect()).stream()); }

  event may_end_;
};

TEST_F(http2_server_memory, a_body_that_waits_for_memory_is_let_come_no_further) {
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const auto window_of = [&](std::int32_t id) {
      return nghttp2_session_get_stream_remote_window_size(client.library(), id);
    };
    const std::int32_t oldest = client.begin("POST", "/size", {{"content-length", "60001"}}, false);
    client.give(oldest, std::string(60'000, 'x'), false);
    co_await client.send();
    std::ignore = co_await sleep_for(loop(), 1ms);
    auto others = memory().hold(memory_kind::bodies, low_bytes);
    const std::int32_t waits = client.begin("POST", "/size", {{"content-length", "150000"}}, false);
    client.give(waits, std::string(38'000, 'x'), false);
    for (co_await client.send(); window_of(waits) != 27'535; co_await client.send())
      if (!co_await client.turn()) break;
    std::ignore = co_await sleep_for(loop(), 1ms);
    client.give(oldest, "x", true);
    EXPECT_EQ((co_await client.reply(oldest)).body, "60001");
    EXPECT_EQ(memory().gauges().waits, 1U);
    EXPECT_EQ(window_of(waits), 27'535);
    others.reset();
    client.give(waits, std::string(112'000, 'x'), true);
    const auto answer = co_await client.reply(waits);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "150000");
  });
}

TEST_F(http2_server_memory, who_has_taken_all_that_there_was_is_not_dropped) {
  run([&]() -> task<void> {
    http2_client client{co_await connected(), {.stream_window_bytes = 100'000}};
    const std::int32_t news = client.begin("GET", "/news");
    co_await client.until([&] { return client.so_far(news).body == "news"; });
    EXPECT_EQ((co_await client.ask("GET", "/much")).body.size(), 100'000U)
        << "more than its window";
    std::ignore = co_await sleep_for(loop(), 1s);
    const auto others = memory().hold(memory_kind::output, limit_bytes);
    std::ignore = co_await sleep_for(loop(), 1s);
    EXPECT_EQ(memory().gauges().dropped_peers, 0U);
    may_end_.set();
    EXPECT_TRUE((co_await client.reply(news)).is_whole);
  });
}

TEST_F(http2_server_memory, connections_and_the_heads_of_requests_that_wait_count) {
  run([&]() -> task<void> {
    const auto counted = [this] {
      return memory().gauges().bytes[std::to_underlying(memory_kind::requests)];
    };
    const std::uint64_t before = counted();
    http2_client client{co_await connected()};
    co_await client.send();
    std::ignore = co_await sleep_for(loop(), 1ms);
    const std::uint64_t connected_bytes = counted() - before;
    EXPECT_GE(connected_bytes, 4'096U);
    const std::string value(200, 'v');
    http2_client::fields many;
    for (int i = 0; i < 60; ++i) many.emplace_back("a-field-that-is-sent-often", value);
    client.begin("POST", "/size", many, false);
    co_await client.send();
    std::ignore = co_await sleep_for(loop(), 1ms);
    EXPECT_GE(counted() - before - connected_bytes, 60 * value.size() + 2'048);
  });
}

TEST_F(http2_server_memory, a_request_that_would_wait_is_refused_while_memory_is_short) {
  serve_within({.http2 = {.queued_reply_bytes = 1}});
  http().get("/some", [] { return std::string(500, 'x'); });  // too little to be dropped for
  run([&]() -> task<void> {
    http2_client client{co_await connected(), {.stream_window_bytes = 0}};
    const std::int32_t first = client.begin("GET", "/some");
    co_await client.until([&] { return client.so_far(first).status == 200; });
    const auto others = memory().hold(memory_kind::requests, limit_bytes);
    const std::int32_t next = client.begin("GET", "/some");
    const auto answer = co_await client.reply(next);
    EXPECT_EQ(answer.error, std::uint32_t{NGHTTP2_REFUSED_STREAM});
    EXPECT_GE(memory().gauges().refused, 1U);
  });
}

TEST_F(http2_server_memory, who_lets_nothing_come_is_dropped) {
  run([&]() -> task<void> {
    http2_client client{co_await connected(),
                        {.stream_window_bytes = 100'000, .takes_bodies = false}};
    const std::int32_t much = client.begin("GET", "/much");
    co_await client.until([&] { return client.so_far(much).body.size() == 65'535; });
    const auto others = memory().hold(memory_kind::output, limit_bytes);
    std::ignore = co_await sleep_for(loop(), 1s);
    EXPECT_EQ(memory().gauges().dropped_peers, 1U);
    EXPECT_EQ(http().connections(), 0U);
  });
}

}  // namespace
}  // namespace weft::http::http2
