// A server of several shards whose clients all stay: how they are spread, and that none is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/coro/scope.hpp>
#include <weft/http/server.hpp>
#include <weft/loop/on.hpp>
#include <weft/loop/shards_fixture_test.hpp>
#include <weft/net/address_book.hpp>
#include <weft/telemetry/registry.hpp>
#include <weft/testing/http_client.hpp>

namespace weft::http {
namespace {

constexpr unsigned shards = 3;
constexpr std::size_t clients_count = 60;

class spread_connections_test : public on_shards {
 protected:
  task<void> start_all() {
    for (unsigned shard = 0; shard < shards; ++shard)
      co_await on(shard, [this] {
        event_loop& loop = event_loop::current();
        auto& here = servers_[loop.shard()];
        here = std::make_unique<server>(
            server_options{.listen = "127.0.0.1:0", .spread_connections = true}, loop, addresses_,
            metrics_.shard(loop.shard()));
        here->get("/", [&loop] { return std::to_string(loop.shard()); });
        EXPECT_TRUE(here->start().has_value());
      });
  }

  task<void> stop_all() {
    for (unsigned shard = 0; shard < shards; ++shard)
      co_await on(shard, [this]() -> task<void> {
        auto& here = servers_[event_loop::current().shard()];
        co_await here->stop();
        here.reset();
      });
  }

  task<std::vector<testing::http_client>> connect(event_loop& loop, std::size_t count) {
    std::vector<testing::http_client> clients;
    while (clients.size() < count) {
      auto stream = co_await net::tcp_stream::connect(loop, servers_[0]->local_endpoint());
      clients.emplace_back(std::move(*stream));
    }
    co_return clients;
  }

  task<std::array<std::size_t, shards>> connections() {
    std::array<std::size_t, shards> counts{};
    for (unsigned shard = 0; shard < shards; ++shard) {
      const auto count = co_await on(
          shard, [this] { return servers_[event_loop::current().shard()]->connections(); });
      counts[shard] = *count;
    }
    co_return counts;
  }

  net::address_book addresses_;
  telemetry::registry metrics_{{.shards = shards}};
  std::array<std::unique_ptr<server>, shards> servers_;
};

INSTANTIATE_TEST_SUITE_P(backends, spread_connections_test, threaded_backends, shards_backend_name);

TEST_P(spread_connections_test, gives_each_shard_as_many_as_the_others) {
  run(shards, [&](event_loop& loop) -> task<void> {
    co_await start_all();
    auto clients = co_await connect(loop, clients_count);
    for (testing::http_client& client : clients) co_await client.ask("GET", "/");
    const auto counts = co_await connections();
    const auto [least, most] = std::ranges::minmax(counts);
    EXPECT_LE(most - least, 2U);
    EXPECT_EQ(counts[0] + counts[1] + counts[2], clients_count);
    clients.clear();
    co_await stop_all();
  });
}

TEST_P(spread_connections_test, makes_up_for_who_has_left) {
  run(shards, [&](event_loop& loop) -> task<void> {
    co_await start_all();
    auto clients = co_await connect(loop, clients_count);
    std::vector<testing::http_client> staying;
    for (testing::http_client& client : clients)
      if ((co_await client.ask("GET", "/")).body != "0") staying.push_back(std::move(client));
    clients.clear();
    while ((co_await connections())[0] != 0) co_await yield{loop};
    auto more = co_await connect(loop, clients_count - staying.size());
    for (testing::http_client& client : more) co_await client.ask("GET", "/");
    const auto counts = co_await connections();
    const auto [least, most] = std::ranges::minmax(counts);
    EXPECT_LE(most - least, 2U);
    staying.clear();
    more.clear();
    co_await stop_all();
  });
}

TEST_P(spread_connections_test, answers_who_is_on_the_way_when_it_stops) {
  run(shards, [&](event_loop& loop) -> task<void> {
    co_await start_all();
    auto clients = co_await connect(loop, clients_count);
    for (testing::http_client& client : clients)
      co_await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    scope stopping{co_await this_task::environment()};
    stopping.spawn(stop_all());
    for (testing::http_client& client : clients) {
      const auto reply = co_await client.reply();
      EXPECT_EQ(reply.status, 200);
    }
    clients.clear();
    co_await stopping.join();
  });
}

}  // namespace
}  // namespace weft::http
