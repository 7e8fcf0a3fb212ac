#include "scenario.hpp"

#include <charconv>
#include <chrono>
#include <cstring>

#include <weft/coro/scope.hpp>
#include <weft/http/request.hpp>

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;
using testing::sim_shard;
using testing::sim_world;

constexpr unsigned client_hosts = 3;
constexpr unsigned clients_per_shard = 2;

task<void> serve(scene& scene, sim_shard& shard) {
  scope work{co_await this_task::environment()};
  work.spawn(serve_echo(scene, shard));
  work.spawn(serve_datagrams(scene, shard));
  work.spawn(call_shards(scene, shard));
  co_await serve_http(scene, shard);
  work.request_stop();
  co_await work.join();
}

task<void> keep_asking(scene& scene, sim_shard& shard) {
  random& dice = scene.world.dice();
  const stop_token stop = (co_await this_task::environment()).stop;
  while (!scene.has_enough() && !stop.stop_requested()) {
    if (dice.chance(1, 8))
      co_await ask_echo(scene, shard);
    else if (dice.chance(1, 12))
      co_await leave_echo(scene, shard);
    else if (dice.chance(1, 12))
      co_await ask_datagrams(scene, shard);
    else
      co_await ask_http(scene, shard);
    std::ignore = co_await sleep_for(shard.loop(), draw_duration(dice, 5ms));
  }
}

task<void> ask(scene& scene, sim_shard& shard) {
  scope work{co_await this_task::environment()};
  for (unsigned i = 0; i < clients_per_shard; ++i) work.spawn(keep_asking(scene, shard));
  work.spawn(keep_time(scene, shard));
  work.spawn(call_shards(scene, shard));
  co_await work.join();
}

}  // namespace

std::string pattern(std::uint64_t id, std::size_t size_bytes) {
  // Eight at a time, for worlds send more of this than they do anything else.
  constexpr std::size_t word = sizeof(std::uint64_t);
  std::string bytes((size_bytes + word - 1) / word * word, '\0');
  std::uint64_t state = id * 0x9e3779b97f4a7c15 + 1;
  for (std::size_t at = 0; at < bytes.size(); at += word) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const std::uint64_t drawn = state ^ state >> 32U;  // the low bits of the state repeat soon
    const std::uint64_t letters = (drawn & 0x3f3f3f3f3f3f3f3f) + 0x2121212121212121;
    std::memcpy(bytes.data() + at, &letters, word);
  }
  bytes.resize(size_bytes);
  return bytes;
}

duration draw_duration(random& dice, duration most) {
  return duration{dice.between<duration::rep>(0, most.count())};
}

std::uint64_t number_in(const http::request& r, std::string_view name) {
  std::uint64_t value = 0;
  const std::string_view text = *r.parameter(name);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

outcome run_scenario(std::uint64_t seed) {
  sim_world world{seed};
  scene scene{.world = world};
  random& dice = world.dice();
  const auto crashes = [&](testing::sim_host_box& host) {
    if (dice.chance(1, 2)) host.may_crash();
  };
  scene.server_is_full = dice.chance(1, 6);
  scene.server_is_hasty = dice.chance(1, 6);
  scene.server_wants_open_clients = dice.chance(1, 2);
  if (dice.chance(1, 2))
    scene.before_server = dice.chance(1, 2) ? go_between::balancer : go_between::proxy;
  scene.server = &world.add_host("server", dice.between(1U, 2U));
  scene.server->serves([&](sim_shard& shard) { return serve(scene, shard); });
  crashes(*scene.server);
  for (unsigned i = 0; i < client_hosts; ++i) {
    auto& host = world.add_host("client", dice.between(1U, 2U));
    host.runs([&](sim_shard& shard) { return ask(scene, shard); });
    crashes(host);
  }
  world.run();
  scene.seen.fingerprint = world.fingerprint();
  scene.seen.turns = world.turns();
  scene.seen.time = world.now() - sim_network::beginning;
  scene.seen.faults = world.network().counts();
  return scene.seen;
}

}  // namespace weft::simulation
