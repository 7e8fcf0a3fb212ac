// What the simulator is let loose on: an HTTP server of two shards, an echo server, and hosts of
// clients that know what each answer must be; the shards of each host call each other.
//
// Contract: run_scenario() makes a world from a seed, runs it and checks that
//   - each reply is the one to its request, byte for byte, and replies come in the order of requests;
//   - behind a balancer or a proxy, the server sees the client that this speaks for, and no other;
//   - none is lost unless a fault has struck its connection, or its client has ended its output and
//     is taken for gone, and none comes twice;
//   - what is echoed is what was sent, in order and whole, under the same condition;
//   - no sleep ends early, and a letter between shards arrives once;
//   - datagrams come whole or not at all, and no more often than the network doubles them;
//   - what a shard calls on another runs once, in order, and what it gives comes back;
//   - the server ends cleanly whenever it is told to, and takes up its work again;
//   - all is done some time after faults have stopped, and nothing is left.
// It throws weft::testing::sim_failure, which names the seed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/loop/sleep.hpp>
#include <weft/net/address_book.hpp>
#include <weft/net/tcp_stream.hpp>
#include <weft/telemetry/registry.hpp>
#include <weft/testing/sim_world.hpp>

namespace weft::http {
class request;
}

namespace weft::simulation {

inline constexpr std::uint16_t http_port = 80;
inline constexpr std::uint16_t echo_port = 7;
inline constexpr std::uint16_t datagram_port = 9;
inline constexpr unsigned connections_least = 20;
inline constexpr unsigned requests_least = 200;

struct outcome {
  std::uint64_t fingerprint = 0;
  std::uint64_t turns = 0;
  std::uint64_t connections = 0;
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t echoed_bytes = 0;
  std::uint64_t calls = 0;  // of one shard to another
  std::uint64_t datagrams = 0;
  duration time{};  // in the world
  sim_fault_counts faults{};
};

/// Who says to the server in whose name connections, or requests, come.
enum class go_between : std::uint8_t { none, balancer, proxy };

/// What outlives crashes, and what all hosts share.
struct scene {
  testing::sim_world& world;
  testing::sim_host_box* server = nullptr;
  net::address_book addresses{};  // the server's
  telemetry::registry metrics{{.shards = 2, .series_max = 64, .histograms_max = 1}};
  outcome seen{};
  std::uint64_t last_id = 0;
  std::uint64_t last_call = 0;
  std::vector<std::uint8_t> handled{};  // by the id of the request: how often a handler had it
  /// How many servers end now, so that a request may go unanswered, and how often one has begun or
  /// finished to.
  unsigned servers_ending = 0;
  unsigned server_ends = 0;
  /// Whether it refuses who comes beyond a few, or gives up on slow handlers.
  bool server_is_full = false;
  bool server_is_hasty = false;
  /// Whether it takes a client that sends no more for gone.
  bool server_wants_open_clients = false;
  go_between before_server = go_between::none;

  [[nodiscard]] bool has_enough() const noexcept {
    return seen.connections >= connections_least && seen.requests >= requests_least;
  }
  /// Whether a connection that was made after so many ends of servers may have lost something.
  [[nodiscard]] bool may_lose(const net::endpoint& client, unsigned ends_before) const noexcept {
    return servers_ending != 0 || server_ends != ends_before ||
           world.network().was_struck(client.raw());
  }
};

/// Bytes that follow from `id`, in which a lost, doubled or misplaced one shows.
[[nodiscard]] std::string pattern(std::uint64_t id, std::size_t size_bytes);
[[nodiscard]] duration draw_duration(random& dice, duration most);
/// A parameter of a route.
[[nodiscard]] std::uint64_t number_in(const http::request& r, std::string_view name);

/// As stream.read(), given up after `patience`: by its deadline, or because another task calls it
/// off.
[[nodiscard]] task<result<buffer_ref>> impatient_read(net::tcp_stream& stream, event_loop& loop,
                                                      duration patience, bool by_another);
/// Whether it was the reader's patience that ended: a connection that has timed out says so in each
/// read, with the kernel's errno.
[[nodiscard]] bool was_given_up(const error& why) noexcept;

[[nodiscard]] task<void> serve_http(scene& scene, testing::sim_shard& shard);
[[nodiscard]] task<void> serve_echo(scene& scene, testing::sim_shard& shard);
/// One connection to the HTTP server, with as many requests as the dice say.
[[nodiscard]] task<void> ask_http(scene& scene, testing::sim_shard& shard);
[[nodiscard]] task<void> ask_echo(scene& scene, testing::sim_shard& shard);
/// Closes a stream, or drops it, while another task waits for what it is to give.
[[nodiscard]] task<void> leave_echo(scene& scene, testing::sim_shard& shard);
/// Sleeps, some of them called off, and letters to all shards of the host.
[[nodiscard]] task<void> keep_time(scene& scene, testing::sim_shard& shard);
/// Sends datagrams back to where they come from.
[[nodiscard]] task<void> serve_datagrams(scene& scene, testing::sim_shard& shard);
/// Sends datagrams until each has come back.
[[nodiscard]] task<void> ask_datagrams(scene& scene, testing::sim_shard& shard);
/// Calls the other shards of the host until the scene has enough: answered at once or later, in
/// bursts, some called off; and a sharded object for all of them.
[[nodiscard]] task<void> call_shards(scene& scene, testing::sim_shard& shard);

[[nodiscard]] outcome run_scenario(std::uint64_t seed);

}  // namespace weft::simulation
