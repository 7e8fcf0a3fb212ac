#include <chrono>

#include <weft/coro/scope.hpp>
#include <weft/net/tcp_listener.hpp>

#include "scenario.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;

task<void> echo(scene& scene, event_loop& loop, net::tcp_stream stream) {
  random& dice = scene.world.dice();
  while (auto bytes = co_await stream.read()) {
    const auto written = co_await stream.write(std::move(*bytes));
    if (!written) co_return;
    if (dice.chance(1, 8)) std::ignore = co_await sleep_for(loop, draw_duration(dice, 5ms));
  }
  if (dice.chance(1, 2)) std::ignore = co_await stream.close();
}

/// Sends all of `text` in pieces, then the end.
task<void> send_all(random& dice, net::tcp_stream& stream, std::string_view text) {
  while (!text.empty()) {
    const std::size_t most = std::min<std::size_t>(text.size(), dice.chance(1, 4) ? 30'000 : 500);
    const std::size_t part = dice.between<std::size_t>(1, most);
    const auto written = co_await stream.write(text.substr(0, part));
    if (!written) co_return;
    text.remove_prefix(part);
  }
  std::ignore = co_await stream.shutdown();
}

task<void> read_some_of(scene& scene, const testing::sim_shard& shard, net::tcp_stream& stream,
                        std::string_view expected) {
  std::string received;
  while (stream.is_open()) {
    const auto bytes = co_await stream.read();
    if (!bytes) co_return;
    received += bytes->text();
    scene.world.expect(expected.starts_with(received) || shard.crashed(),
                       "what is read before a stream is closed is what was sent");
  }
}

}  // namespace

task<void> serve_echo(scene& scene, testing::sim_shard& shard) {
  event_loop& loop = shard.loop();
  auto listener =
      net::tcp_listener::bind(loop, scene.server->endpoint(echo_port), {.shared = true});
  scene.world.expect(listener.has_value() || shard.crashed(), "the echo server listens");
  if (!listener) co_return;
  scope work{co_await this_task::environment()};
  for (;;) {
    auto stream = co_await listener->accept();
    if (!stream) break;
    work.spawn(echo(scene, loop, std::move(*stream)));
  }
  co_await work.join();
}

task<void> leave_echo(scene& scene, testing::sim_shard& shard) {
  random& dice = scene.world.dice();
  auto stream = co_await net::tcp_stream::connect(shard.loop(), scene.server->endpoint(echo_port));
  if (!stream) co_return;
  ++scene.seen.connections;
  scope reading{co_await this_task::environment()};
  const std::string sent = pattern(++scene.last_id, dice.below(20'000));
  reading.spawn(read_some_of(scene, shard, *stream, sent));
  std::ignore = co_await stream->write(std::string_view{sent});
  std::ignore = co_await sleep_for(shard.loop(), draw_duration(dice, 10ms));
  if (dice.chance(1, 2))
    std::ignore = co_await stream->close();
  else
    static_cast<void>(net::tcp_stream{std::move(*stream)});
  co_await reading.join();
}

task<void> ask_echo(scene& scene, testing::sim_shard& shard) {
  random& dice = scene.world.dice();
  const unsigned ends_before = scene.server_ends;
  auto stream = co_await net::tcp_stream::connect(shard.loop(), scene.server->endpoint(echo_port));
  if (!stream) co_return;
  ++scene.seen.connections;
  const net::endpoint self = stream->local_endpoint().value();
  const std::string sent =
      pattern(++scene.last_id, dice.below(dice.chance(1, 8) ? 200'000 : 3'000));
  std::string received;
  scope sending{co_await this_task::environment()};
  sending.spawn(send_all(dice, *stream, sent));
  const stop_token stop = (co_await this_task::environment()).stop;
  bool has_ended = false;
  while (!has_ended) {
    const duration patience = draw_duration(dice, 200ms);
    const bool by_another = dice.chance(1, 2);
    auto bytes = co_await impatient_read(*stream, shard.loop(), patience, by_another);
    if (bytes) {
      received += bytes->text();
    } else if (!was_given_up(bytes.error())) {
      has_ended = true;
    } else if (stop.stop_requested()) {
      break;
    }
  }
  sending.request_stop();
  co_await sending.join();
  scene.seen.echoed_bytes += received.size();
  const auto expect = [&](bool holds, std::string_view what) {
    scene.world.expect(holds || shard.crashed(), what);
  };
  expect(sent.starts_with(received), "what is echoed is what was sent, in order");
  expect(
      received.size() == sent.size() || scene.may_lose(self, ends_before) || stop.stop_requested(),
      "what is echoed is all that was sent");
}

}  // namespace weft::simulation
