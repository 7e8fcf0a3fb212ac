#include <algorithm>
#include <chrono>
#include <tuple>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/net/udp_socket.hpp>

#include "scenario.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;

/// On its way there and back each datagram may be doubled.
constexpr unsigned copies_most = 4;

/// A datagram of an exchange, and how often it was sent and has come back.
struct exchanged {
  std::string bytes;
  unsigned sent = 0;
  unsigned heard = 0;
};

task<result<net::udp_socket>> bind_patiently(testing::sim_shard& shard,
                                             const net::endpoint& where) {
  for (;;) {
    auto socket = net::udp_socket::bind(shard.loop(), where, address_sharing::joins);
    if (socket || socket.error() != errc::exhausted) co_return socket;
    const auto slept = co_await sleep_for(shard.loop(), 20ms);
    if (!slept) co_return fail(slept.error());
  }
}

/// How many came, of those that were sent.
task<result<unsigned>> hear(scene& scene, const testing::sim_shard& shard, net::udp_socket& socket,
                            std::vector<exchanged>& all) {
  const auto batch = co_await socket.receive();
  if (!batch) co_return fail(batch.error());
  unsigned count = 0;
  for (const datagram& each : *batch) {
    const auto known = std::ranges::find(all, each.bytes.text(), &exchanged::bytes);
    scene.world.expect(known != all.end() || shard.crashed(),
                       "a datagram that comes back is one that was sent, byte for byte");
    if (known == all.end()) continue;
    ++known->heard;
    ++count;
    scene.world.expect(known->heard <= known->sent * copies_most || shard.crashed(),
                       "a datagram comes no more often than the network doubles it");
  }
  co_return count;
}

}  // namespace

task<void> serve_datagrams(scene& scene, testing::sim_shard& shard) {
  auto socket = co_await bind_patiently(shard, scene.server->endpoint(datagram_port));
  if (!socket) co_return;
  for (;;) {
    const auto batch = co_await socket->receive();
    if (!batch) co_return;
    for (datagram& each : *batch)
      std::ignore = co_await socket->send(net::endpoint{each.peer}, std::move(each.bytes));
  }
}

task<void> ask_datagrams(scene& scene, testing::sim_shard& shard) {
  random& dice = scene.world.dice();
  const net::endpoint server = scene.server->endpoint(datagram_port);
  const bool is_connected = dice.chance(1, 2);
  auto socket = is_connected ? net::udp_socket::connect(shard.loop(), server)
                             : net::udp_socket::open(shard.loop(), AF_INET);
  if (!socket) co_return;
  std::vector<exchanged> all(dice.between(1U, 40U));
  for (exchanged& each : all) {
    const std::uint64_t id = ++scene.last_id;
    each.bytes =
        weft::format("{} {}", id, pattern(id, dice.below(dice.chance(1, 8) ? 3'000 : 200)));
  }
  const stop_token stop = (co_await this_task::environment()).stop;
  const auto is_missing = [](const exchanged& each) { return each.heard == 0; };
  while (std::ranges::any_of(all, is_missing) && !stop.stop_requested()) {
    // A refusal is told of each that was sent: who answered each at once would drown the network.
    std::ignore = co_await sleep_for(shard.loop(), draw_duration(dice, 10ms));
    for (exchanged& each : all) {
      if (!is_missing(each)) continue;
      ++each.sent;
      // Not one expression: GCC 14 sends twice for a conditional one that awaits on both sides.
      if (is_connected)
        std::ignore = co_await socket->send(std::string_view{each.bytes});
      else
        std::ignore = co_await socket->send(server, std::string_view{each.bytes});
    }
    for (bool more = true; more && std::ranges::any_of(all, is_missing);) {
      const duration patience = draw_duration(dice, 200ms);
      more = (co_await with_timeout(patience, hear(scene, shard, *socket, all))).has_value();
    }
  }
  for (const exchanged& each : all) scene.seen.datagrams += each.sent;
}

}  // namespace weft::simulation
