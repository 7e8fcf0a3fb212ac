#include "socket_scenario.hpp"

#include <chrono>
#include <deque>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/http/client/client.hpp>
#include <weft/http/server.hpp>
#include <weft/http/websocket/topic.hpp>

#include "scenario.hpp"
#include "socket_streams.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;
using testing::sim_shard;
using testing::sim_world;

constexpr unsigned talkers_per_shard = 3;
constexpr std::uint64_t sockets_least = 30;
constexpr std::uint64_t streams_most = 10;

struct socket_scene {
  sim_world& world;
  testing::sim_host_box* server = nullptr;
  net::address_book addresses{};
  telemetry::registry of_server{{.shards = 2, .series_max = 64, .histograms_max = 1}};
  telemetry::registry of_client{{.shards = 2, .series_max = 64, .histograms_max = 1}};
  socket_outcome seen{};
  http::websocket_compression compression = http::websocket_compression::off;
  unsigned servers_ending = 0;
  unsigned server_ends = 0;

  [[nodiscard]] bool has_struck() const noexcept {
    const sim_fault_counts& counts = world.network().counts();
    return servers_ending != 0 ||
           std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) != 0;
  }
};

// Who gives back what comes, and hears the news beside it.

task<void> speak_back(socket_scene& scene, event_loop& loop, http::topic& news,
                      http::websocket& socket) {
  random& dice = scene.world.dice();
  const http::subscription to_news{news, socket};
  while (auto message = co_await socket.read()) {
    if (dice.chance(1, 8)) std::ignore = co_await sleep_for(loop, draw_duration(dice, 2ms));
    if (!co_await socket.send(*message)) co_return;
    if (dice.chance(1, 16))
      std::ignore = news.publish_now(http::websocket_message{http::message_kind::binary, "news"});
  }
}

task<void> serve_sockets(socket_scene& scene, sim_shard& shard, duration length) {
  event_loop& loop = shard.loop();
  random& dice = scene.world.dice();
  http::topic news{
      {.policy = dice.chance(1, 2) ? http::slow_reader::drop : http::slow_reader::wait}};
  http::server http{{.listen = ":80"}, loop, scene.addresses, scene.of_server.shard(shard.index())};
  http.websocket("/",
                 [&](http::websocket& socket) { return speak_back(scene, loop, news, socket); },
                 {.compression = scene.compression,
                  .limits = {.ping_interval = draw_duration(dice, 50ms) + 5ms,
                             .pong_timeout = 500ms,
                             .close_timeout = 200ms}});
  scene.world.expect(http.start().has_value() || shard.crashed(), "the server starts");
  std::ignore = co_await sleep_for(loop, length);
  ++scene.server_ends;
  ++scene.servers_ending;
  const environment own{.until = deadline::at(loop.now() + draw_duration(dice, 300ms)),
                        .runs_on = &loop};
  std::ignore = co_await http.stop().in(own);
  --scene.servers_ending;
  ++scene.server_ends;
}

task<void> serve_twice(socket_scene& scene, sim_shard& shard) {
  const stop_token stop = (co_await this_task::environment()).stop;
  co_await serve_sockets(scene, shard, draw_duration(scene.world.dice(), 200ms));
  if (!stop.stop_requested()) co_await serve_sockets(scene, shard, std::chrono::hours{1});
}

// Who talks to it.

/// One WebSocket, and what it owes.
struct talk {
  socket_scene& scene;
  sim_shard& shard;
  http::websocket& socket;
  std::deque<std::string> owed{};
  bool ends = false;

  /// As long as the dice give it.
  environment patience(const environment& own) const {
    random& dice = scene.world.dice();
    environment patience = own;
    if (dice.chance(1, 6))
      patience.until =
          std::min(own.until, deadline::at(shard.loop().now() + draw_duration(dice, 3ms)));
    return patience;
  }
};

bool was_given_up(error why) { return why == errc::timed_out || why == errc::cancelled; }

task<result<void>> send_one(http::websocket& socket, std::string_view text) {
  co_return co_await socket.send(text);
}

task<void> send_some(talk& with) {
  random& dice = with.scene.world.dice();
  for (std::uint64_t left = dice.below(4); left != 0 && !with.ends; --left) {
    const std::size_t size = dice.chance(1, 6) ? dice.below(60'000) : dice.below(300);
    std::string text = pattern(dice.below(1000), size);
    const environment patience = with.patience(co_await this_task::environment());
    const auto sent = co_await send_one(with.socket, text).in(patience);
    if (sent)
      with.owed.push_back(std::move(text));
    else if (was_given_up(sent.error()))
      ++with.scene.seen.given_up;
    else
      with.ends = true;
  }
}

/// What the next message is; or why there is none.
task<result<bool>> read_one(talk& with) {
  const auto message = co_await with.socket.read();
  if (!message) co_return fail(message.error());
  if (!message->is_text()) {
    with.scene.world.expect(message->data == "news", "news come as they were published");
    co_return false;
  }
  with.scene.world.expect(!with.owed.empty() && message->data == with.owed.front(),
                          "what comes back is what was sent, in order");
  with.owed.pop_front();
  ++with.scene.seen.messages;
  co_return true;
}

task<void> read_some(talk& with) {
  while (!with.owed.empty()) {
    const environment patience = with.patience(co_await this_task::environment());
    const auto came = co_await read_one(with).in(patience);
    if (came) continue;
    if (was_given_up(came.error()) && with.socket.is_open()) {
      ++with.scene.seen.given_up;
      if ((co_await this_task::environment()).stop.stop_requested()) co_return;
      continue;
    }
    with.ends = true;
    co_return;
  }
}

/// False: it has ended as nobody wanted.
task<bool> talk_over(talk& with) {
  random& dice = with.scene.world.dice();
  const stop_token stop = (co_await this_task::environment()).stop;
  for (std::uint64_t rounds = dice.below(8); rounds != 0 && !with.ends && !stop.stop_requested();
       --rounds) {
    co_await send_some(with);
    if (!with.ends) co_await read_some(with);
  }
  if (with.ends || stop.stop_requested()) co_return !with.ends;
  if (dice.chance(1, 4)) co_return true;  // dropped
  const auto closed = co_await with.socket.close(http::close_code{4000}, "enough");
  co_return closed.has_value();
}

task<void> keep_talking(socket_scene& scene, sim_shard& shard, http::client& client) {
  random& dice = scene.world.dice();
  const stop_token stop = (co_await this_task::environment()).stop;
  while (scene.seen.sockets < sockets_least && !stop.stop_requested()) {
    const unsigned ends_before = scene.server_ends;
    const std::string url = weft::format("ws://{}/", scene.server->endpoint(http_port).to_string());
    auto opened = co_await client.open_websocket(
        url,
        {.compression = dice.chance(1, 2) ? scene.compression : http::websocket_compression::off,
         .limits = {.close_timeout = 200ms}});
    bool is_well = opened.has_value();
    if (opened) {
      ++scene.seen.sockets;
      talk with{.scene = scene, .shard = shard, .socket = *opened};
      is_well = co_await talk_over(with);
    }
    if (!is_well) ++scene.seen.broken;
    const bool may_fail = scene.has_struck() || scene.server_ends != ends_before ||
                          stop.stop_requested() || shard.crashed() ||
                          (!opened && opened.error() == errc::refused);
    scene.world.expect(is_well || may_fail, "a WebSocket ends only as its two ends want");
    if (!is_well || dice.chance(1, 2))
      std::ignore = co_await sleep_for(shard.loop(), draw_duration(dice, 10ms));
  }
}

task<void> talk_all(socket_scene& scene, sim_shard& shard) {
  http::client client{
      {.connect_timeout = 1s, .timeout = 2s}, shard.loop(), scene.of_client.shard(shard.index())};
  scope work{co_await this_task::environment()};
  for (unsigned i = 0; i < talkers_per_shard; ++i) work.spawn(keep_talking(scene, shard, client));
  co_await work.join();
  std::ignore = co_await client.stop();
}

std::int64_t left_open(const telemetry::registry& of, std::string_view name) {
  const auto seen = of.read();
  const auto* const found = seen.find(name);
  return found == nullptr ? 0 : found->value;
}

}  // namespace

socket_outcome run_socket_scenario(std::uint64_t seed) {
  sim_world world{seed};
  socket_scene scene{.world = world};
  random& dice = world.dice();
  constexpr http::websocket_compression ways[] = {http::websocket_compression::off,
                                                  http::websocket_compression::single,
                                                  http::websocket_compression::context};
  scene.compression = ways[dice.below(std::size(ways))];
  scene.server = &world.add_host("server", dice.between(1U, 2U));
  scene.server->serves([&](sim_shard& shard) { return serve_twice(scene, shard); });
  if (dice.chance(1, 2)) scene.server->may_crash();
  auto& talking = world.add_host("client", dice.between(1U, 2U));
  talking.runs([&](sim_shard& shard) { return talk_all(scene, shard); });
  if (dice.chance(1, 2)) talking.may_crash();
  auto& leaving = world.add_host("leaver", 1);
  leaving.runs([&](sim_shard& shard) {
    return leave_sockets_of_http2(shard.loop(), dice, scene.server->endpoint(http_port),
                                  streams_most, scene.seen.streams);
  });
  world.run();
  world.expect(left_open(scene.of_server, "http_websockets") == 0, "no WebSocket is left");
  world.expect(left_open(scene.of_client, "http_client_websockets") == 0, "nor one of the client");
  scene.seen.faults = world.network().counts();
  return scene.seen;
}

}  // namespace weft::simulation
