// Datagrams in worlds that lose, double and delay them.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/loop/sleep.hpp>
#include <weft/net/udp_socket.hpp>
#include <weft/testing/sim_world.hpp>

namespace weft::testing {
namespace {

using namespace std::chrono_literals;

TEST(sim_datagrams, are_lost_and_doubled_and_overtake_each_other) {
  sim_plan plan{.latency_min = 100us, .latency_max = 1ms, .strike_gap = 20ms, .faults_last = 1s};
  plan.rates[static_cast<std::size_t>(sim_fault::datagram_loss)] = 32'768;
  plan.rates[static_cast<std::size_t>(sim_fault::datagram_copy)] = 16'384;
  sim_world world{1, plan};
  auto& server = world.add_host("server");
  std::vector<unsigned> times_come(100);
  bool in_order = true;
  server.serves([&](sim_shard& shard) -> task<void> {
    auto socket = net::udp_socket::bind(shard.loop(), server.endpoint(9));
    char latest = 0;
    while (auto batch = co_await socket->receive())
      for (const datagram& each : *batch) {
        const char number = each.bytes.text()[0];
        ++times_come[static_cast<std::size_t>(number)];
        in_order = in_order && number >= std::exchange(latest, number);
      }
  });
  world.add_host("client").runs([&](sim_shard& shard) -> task<void> {
    auto socket = net::udp_socket::connect(shard.loop(), server.endpoint(9));
    for (char number = 0; number < 100; ++number)
      EXPECT_TRUE(co_await socket->send(std::string_view{&number, 1}));
    std::ignore = co_await sleep_for(shard.loop(), 1s);
  });
  world.run();
  EXPECT_EQ(std::ranges::max(times_come), 2U);
  EXPECT_EQ(std::ranges::min(times_come), 0U);
  EXPECT_FALSE(in_order);
  EXPECT_GT(world.network().counts()[static_cast<std::size_t>(sim_fault::datagram_reordering)], 0U);
}

TEST(sim_datagrams, are_refused_to_who_is_connected_where_nobody_takes_them) {
  sim_world world{1, sim_plan{}};
  auto& server = world.add_host("server");
  server.serves([](sim_shard& shard) -> task<void> { co_await until_stopped{shard.loop()}; });
  std::optional<error> why;
  world.add_host("client").runs([&](sim_shard& shard) -> task<void> {
    auto socket = net::udp_socket::connect(shard.loop(), server.endpoint(9));
    EXPECT_TRUE(co_await socket->send("is anybody there?"));
    const auto batch = co_await socket->receive();
    if (!batch) why = batch.error();
  });
  world.run();
  EXPECT_EQ(why, errc::refused);
}

}  // namespace
}  // namespace weft::testing
