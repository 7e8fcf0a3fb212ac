// What TLS connections hold counts against the memory budget, and who goes when that is too much.
#include <weft/http/server.hpp>

#include <chrono>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/memory_budget.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/http/request.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/net/tls_files_test.hpp>
#include <weft/net/tls_stream.hpp>
#include <weft/testing/http2_client.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::http_client;
using namespace std::chrono_literals;

constexpr std::size_t limit_bytes = std::size_t{16} << 20U;
/// Of those that only connect: half of the budget is theirs.
constexpr std::size_t more_than_fit = 600;

class tls_memory : public testing::server_world {
 protected:
  void SetUp() override {
    server_world::SetUp();
    const net::tls_certificate site = authority.issue("site", {.names = {"site.test"}});
    server_options options{.drain_idle = duration::zero()};
    options.tls.certificate = site.certificate;
    options.tls.key = site.key;
    trusting.emplace(*net::tls_context::client({.ca = authority.ca()}));
    serve(backend_kind::simulated, std::move(options));
    memory().budget().set_limit(limit_bytes);
    http().get("/", [] { return "in"; });
  }
  void TearDown() override {
    memory().budget().set_limit(memory_budget::unlimited);
    server_world::TearDown();
  }

  [[nodiscard]] memory_share& memory() noexcept { return loop().memory(); }
  [[nodiscard]] std::uint64_t counted() noexcept {
    auto all = memory().gauges().bytes;
    all[std::to_underlying(memory_kind::buffers)] = 0;  // come in chunks of 2 MiB
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  }
  /// Lets what has been sent be read.
  task<void> settle() { std::ignore = co_await sleep_for(loop(), 1ms); }

  task<net::tcp_stream> connected() {
    co_return std::move(*co_await net::tcp_stream::connect(loop(), http().local_endpoint()));
  }
  /// Empty: it was refused.
  task<std::optional<http_client>> secured() {
    net::handshake_gate gate{loop()};
    auto stream = co_await net::tls_connect(co_await connected(), *trusting, "site.test", gate);
    if (!stream) co_return std::nullopt;
    co_return http_client{std::move(*stream)};
  }
  task<std::vector<net::tcp_stream>> crowd(std::size_t size, std::string_view each_says) {
    std::vector<net::tcp_stream> all;
    for (std::size_t i = 0; i < size; ++i) {
      all.push_back(co_await connected());
      all.back().append(std::string{each_says});
      std::ignore = co_await all.back().flush();
    }
    co_await settle();
    co_return all;
  }
  task<void> expect_served(http_client& client) {
    EXPECT_EQ((co_await client.ask("GET", "/")).body, "in");
  }

  net::test_authority authority;
  std::optional<net::tls_context> trusting;
};

TEST_F(tls_memory, counts_a_connection_before_in_and_after_its_handshake) {
  run([&]() -> task<void> {
    const std::uint64_t before = counted();
    auto silent = co_await crowd(10, "");
    EXPECT_GE(counted() - before, 10 * 10'000U);
    auto begun = co_await crowd(10, "\x16\x03");
    EXPECT_GE(counted() - before, 10 * 10'000U + 10 * 72'000U);
    silent.clear();
    begun.clear();
    co_await settle();
    EXPECT_EQ(counted(), before);
    std::vector<http_client> clients;
    for (int i = 0; i < 10; ++i) clients.push_back(std::move(*co_await secured()));
    co_await settle();
    // Both ends are here.
    EXPECT_GE(counted() - before, 20 * 16'000U);
    EXPECT_LE(counted() - before, 20 * 24'000U);
  });
}

TEST_F(tls_memory, refuses_who_comes_when_there_is_no_room) {
  run([&]() -> task<void> {
    auto honest = co_await secured();
    auto others = co_await crowd(more_than_fit, "");
    EXPECT_GT(memory().gauges().refused, 0U);
    EXPECT_FALSE(co_await others.back().read()) << "closed at once";
    EXPECT_LE(counted(), limit_bytes / 2 + (std::size_t{1} << 20U));
    co_await expect_served(*honest);
  });
}

TEST_F(tls_memory, newcomers_get_in_soon_and_those_who_talk_stay) {
  run([&]() -> task<void> {
    auto honest = co_await secured();
    for (const std::string_view begun : {"", "\x16", "\x16\x03\x01\x02\x03\x01"}) {
      const auto others = co_await crowd(more_than_fit, begun);
      co_await expect_served(*honest);
      std::ignore = co_await sleep_for(loop(), 400ms);
      co_await expect_served(*honest);
      std::ignore = co_await sleep_for(loop(), 400ms);
      std::ignore = co_await secured();  // whose place others make, perhaps too late
      auto next = co_await secured();
      if (!next) co_return ADD_FAILURE() << "nobody has left";
      co_await expect_served(*next);
      co_await expect_served(*honest);
    }
    EXPECT_GT(memory().gauges().dropped_peers, 0U);
  });
}

TEST_F(tls_memory, silent_connections_leave_for_newcomers_and_those_who_talk_stay) {
  run([&]() -> task<void> {
    auto honest = co_await secured();
    std::vector<http_client> clients;
    for (int i = 0; i < 500; ++i) {
      auto next = co_await secured();
      if (next) clients.push_back(std::move(*next));
      if (i % 10 == 0) {
        co_await expect_served(*honest);
        std::ignore = co_await sleep_for(loop(), 100ms);
      }
    }
    EXPECT_GT(memory().gauges().dropped_peers, 0U);
    auto next = co_await secured();
    if (!next) co_return ADD_FAILURE() << "nobody has left";
    co_await expect_served(*next);
    co_await expect_served(*honest);
  });
}

TEST_F(tls_memory, whoever_waits_for_a_reply_over_http2_is_not_silent) {
  trusting.emplace(*net::tls_context::client({.ca = authority.ca(), .protocols = {"h2"}}));
  event may_reply;
  http().get("/late", [&]() -> task<std::string> {
    std::ignore = co_await may_reply.wait();
    co_return "late";
  });
  run([&]() -> task<void> {
    net::handshake_gate gate{loop()};
    auto stream = co_await net::tls_connect(co_await connected(), *trusting, "site.test", gate);
    testing::http2_client client{std::move(stream.value())};
    const auto asked = client.begin("GET", "/late");
    co_await client.send();
    std::ignore = co_await sleep_for(loop(), 1s);
    auto others = co_await crowd(more_than_fit, "");
    std::ignore = co_await sleep_for(loop(), 1s);
    auto more = co_await crowd(more_than_fit, "");
    EXPECT_GT(memory().gauges().dropped_peers, 0U);
    may_reply.set();
    EXPECT_EQ((co_await client.reply(asked)).body, "late");
  });
}

TEST_F(tls_memory, refuses_a_hello_that_is_announced_as_too_long) {
  run([&]() -> task<void> {
    auto client = co_await connected();
    client.append(std::string{"\x16\x03\x01\x00\x05\x01\x02\x01\x00\x03", 10});
    std::ignore = co_await client.flush();
    const time_point begun = loop().now();
    while (co_await client.read()) {}
    EXPECT_LT(loop().now() - begun, 1s) << "not by the timeout of handshakes";
  });
}

TEST_F(tls_memory, a_part_of_a_record_counts) {
  run([&]() -> task<void> {
    // What lies between passes on all but the last byte.
    auto listener = net::tcp_listener::bind(loop(), net::endpoint::loopback(0));
    auto near = co_await net::tcp_stream::connect(loop(), listener.value().local_endpoint());
    auto between = co_await listener->accept();
    auto far = co_await connected();
    std::size_t kept_bytes = 0;
    scope tasks{co_await this_task::environment()};
    tasks.spawn([](net::tcp_stream& from, net::tcp_stream& to) -> task<void> {
      while (auto bytes = co_await from.read())
        if (!co_await to.write(std::move(*bytes))) co_return;
    }(far, *between));
    tasks.spawn([](net::tcp_stream& from, net::tcp_stream& to, std::size_t& kept) -> task<void> {
      while (auto bytes = co_await from.read()) {
        if (kept != 0) bytes->resize(bytes->size() - kept);
        if (!co_await to.write(std::move(*bytes))) co_return;
      }
    }(*between, far, kept_bytes));
    net::handshake_gate gate{loop()};
    auto client = co_await net::tls_connect(std::move(*near), *trusting, "site.test", gate);
    co_await settle();
    const std::uint64_t before = counted();
    kept_bytes = 1;
    client->append("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    std::ignore = co_await client->flush();
    co_await settle();
    EXPECT_GE(counted() - before, 16'384U);
    EXPECT_EQ(http().requests(), 0U);
    std::ignore = co_await client->close();
    tasks.request_stop();
    co_await tasks.join();
  });
}

}  // namespace
}  // namespace weft::http
