#include "client_scenario.hpp"

#include <chrono>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/http/client/client.hpp>
#include <weft/http/server.hpp>

#include "scenario.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;
using testing::sim_shard;
using testing::sim_world;

constexpr unsigned askers_per_shard = 4;
constexpr std::uint64_t answered_least = 60;

struct asking_scene {
  sim_world& world;
  testing::sim_host_box* server = nullptr;
  net::address_book addresses{};
  telemetry::registry of_server{{.shards = 2, .series_max = 64, .histograms_max = 1}};
  telemetry::registry of_client{{.shards = 2, .series_max = 64, .histograms_max = 1}};
  client_outcome seen{};
  std::vector<std::uint8_t> handled{};  // by the id of the request
  std::uint64_t last_id = 0;
  unsigned retries = 0;  // that a client is allowed
  http::client_http2 http2 = http::client_http2::negotiated;
  unsigned servers_ending = 0;
  unsigned server_ends = 0;

  [[nodiscard]] bool has_struck() const noexcept {
    const sim_fault_counts& counts = world.network().counts();
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) != 0;
  }
};

// What is asked.

struct inquiry {
  std::uint64_t id = 0;
  http::method how = http::method::get;
  bool is_streamed = false;  // either way
  std::string url{};
  std::string body{};      // that is sent
  std::string expected{};  // body of the answer
};

inquiry draw_inquiry(asking_scene& scene) {
  random& dice = scene.world.dice();
  inquiry asked{.id = ++scene.last_id, .is_streamed = dice.chance(1, 4)};
  scene.handled.resize(scene.last_id + 1);
  const std::size_t size = dice.chance(1, 8) ? dice.below(40'000) : dice.below(400);
  asked.expected = pattern(asked.id, size);
  std::string path;
  switch (dice.below(6)) {
    case 0:
      asked.how = http::method::post;
      path = "/echo";
      break;
    case 1:
      asked.how = http::method::put;
      path = "/echo";
      break;
    case 2: path = "/slow"; break;
    case 3: path = "/pour"; break;
    default: path = "/text";
  }
  asked.url =
      weft::format("http://{}{}/{}", scene.server->endpoint(http_port).to_string(), path, asked.id);
  if (path == "/echo")
    asked.body = asked.expected;
  else
    asked.url += "/" + std::to_string(size);
  return asked;
}

// Who answers.

/// The id of a request, which is handled as often as it may be.
std::uint64_t note(asking_scene& scene, const http::request& r) {
  const std::uint64_t id = number_in(r, "id");
  scene.world.expect(id <= scene.last_id, "a request that was asked is handled");
  // A try goes to a second connection where the kept one turns out to be gone.
  const unsigned most = r.method() == http::method::post ? 1 : 2 * (1 + scene.retries);
  scene.world.expect(++scene.handled[id] <= most, "no request is handled more often than it may");
  return id;
}

task<result<void>> pour_out(std::string text, http::body_writer& out, event_loop& loop,
                            random& dice) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view piece = rest.substr(0, dice.between<std::size_t>(1, rest.size()));
    if (auto written = co_await out.write(piece); !written) co_return written;
    rest.remove_prefix(piece.size());
    if (dice.chance(1, 8)) std::ignore = co_await sleep_for(loop, draw_duration(dice, 2ms));
  }
  co_return result<void>{};
}

task<std::string> take_time(std::string text, event_loop& loop, random& dice) {
  std::ignore = co_await sleep_for(loop, draw_duration(dice, 20ms));
  co_return text;
}

void add_answers(http::server& http, asking_scene& scene, event_loop& loop) {
  const auto wanted = [&scene](const http::request& r) {
    return pattern(note(scene, r), number_in(r, "size"));
  };
  const auto echo = [&scene](const http::request& r) {
    note(scene, r);
    return std::string{r.body()};
  };
  http.get("/text/{id}/{size}", wanted);
  http.get("/slow/{id}/{size}", [wanted, &scene, &loop](const http::request& r) {
    return take_time(wanted(r), loop, scene.world.dice());
  });
  http.get("/pour/{id}/{size}",
           [wanted, &scene, &loop](const http::request& r, http::body_writer& out) {
             return pour_out(wanted(r), out, loop, scene.world.dice());
           });
  http.post("/echo/{id}", echo);
  http.put("/echo/{id}", echo);
}

task<void> answer_for(asking_scene& scene, sim_shard& shard, duration length) {
  event_loop& loop = shard.loop();
  random& dice = scene.world.dice();
  http::limits limits;
  limits.requests_per_connection = dice.chance(1, 4) ? 3 : 0;
  // So short that connections end while they are about to be used again.
  if (dice.chance(1, 2)) limits.keep_alive_timeout = draw_duration(dice, 10ms) + 1ms;
  http::server http{{.listen = ":80", .limits = limits},
                    loop,
                    scene.addresses,
                    scene.of_server.shard(shard.index())};
  add_answers(http, scene, loop);
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

task<void> answer(asking_scene& scene, sim_shard& shard) {
  const stop_token stop = (co_await this_task::environment()).stop;
  co_await answer_for(scene, shard, draw_duration(scene.world.dice(), 200ms));
  if (!stop.stop_requested()) co_await answer_for(scene, shard, std::chrono::hours{1});
}

// Who asks.

struct given_answer {
  http::status status{};
  std::string body{};
};
using given = std::optional<http::client_result<given_answer>>;

http::client_request request_of(const inquiry& asked) {
  http::client_request request{asked.how, asked.url};
  if (asked.how != http::method::get && !asked.is_streamed) request.body(asked.body);
  return request;
}

task<http::client_result<given_answer>> ask_whole(http::client& client, const inquiry& asked) {
  auto answer = co_await client.send(request_of(asked));
  if (!answer) co_return std::unexpected{answer.error()};
  co_return given_answer{answer->status(), answer->take_body()};
}

task<http::client_result<http::client_stream>> open_stream(http::client& client,
                                                           const inquiry& asked, random& dice) {
  if (asked.how == http::method::get) co_return co_await client.open(request_of(asked));
  const std::size_t size = asked.body.size();
  auto upload = co_await client.upload(
      request_of(asked), dice.chance(1, 2) ? std::optional<std::uint64_t>{size} : std::nullopt);
  if (!upload) co_return std::unexpected{upload.error()};
  for (std::string_view rest = asked.body; !rest.empty();) {
    const std::string_view piece = rest.substr(0, dice.between<std::size_t>(1, rest.size()));
    auto written = co_await upload->write(piece);
    if (!written && written.error() == errc::closed) break;
    if (!written) co_return std::unexpected{written.error()};
    rest.remove_prefix(piece.size());
  }
  co_return co_await upload->finish();
}

task<http::client_result<given_answer>> ask_in_pieces(http::client& client, const inquiry& asked,
                                                      event_loop& loop, random& dice) {
  auto stream = co_await open_stream(client, asked, dice);
  if (!stream) co_return std::unexpected{stream.error()};
  given_answer all{.status = stream->status()};
  for (;;) {
    const auto piece = co_await stream->read();
    if (!piece && piece.error() == errc::closed) co_return all;
    if (!piece) co_return std::unexpected{piece.error()};
    all.body += *piece;
    if (dice.chance(1, 8)) std::ignore = co_await sleep_for(loop, draw_duration(dice, 1ms));
  }
}

task<void> ask_into(http::client& client, const inquiry& asked, event_loop& loop, random& dice,
                    given& into) {
  if (asked.is_streamed)
    into.emplace(co_await ask_in_pieces(client, asked, loop, dice));
  else
    into.emplace(co_await ask_whole(client, asked));
}

/// Gives up by a deadline or a stop request, if the dice say so. True: it may have.
task<bool> ask_impatiently(asking_scene& scene, sim_shard& shard, http::client& client,
                           const inquiry& asked, given& into) {
  random& dice = scene.world.dice();
  scope work{co_await this_task::environment()};
  environment patience = work.inherited();
  const bool is_hasty = dice.chance(1, 8);
  const bool is_fickle = dice.chance(1, 8);
  if (is_hasty) patience.until = deadline::at(shard.loop().now() + draw_duration(dice, 20ms));
  work.spawn_in(patience, ask_into(client, asked, shard.loop(), dice, into));
  if (is_fickle) {
    std::ignore = co_await sleep_for(shard.loop(), draw_duration(dice, 20ms));
    work.request_stop();
  }
  co_await work.join();
  co_return is_hasty || is_fickle;
}

void judge(asking_scene& scene, const inquiry& asked, const given& came, bool may_fail) {
  const auto& answer = *came;
  if (!answer) {
    ++scene.seen.given_up;
    if (may_fail || answer.error() == errc::refused) return;
    return scene.world.fail("a request fails though nothing has struck: " +
                            answer.error().message());
  }
  ++scene.seen.answers;
  const http::status code = answer->status;
  const bool is_refusal =
      code == http::status::service_unavailable || code == http::status::request_timeout;
  if (is_refusal && may_fail) return;
  scene.world.expect(code == http::status::ok, "an answer has the status it ought to have");
  scene.world.expect(answer->body == asked.expected,
                     "an answer is the one to its request, byte for byte");
  scene.world.expect(scene.handled[asked.id] != 0, "what is answered has been handled");
}

task<void> keep_asking(asking_scene& scene, sim_shard& shard, http::client& client) {
  random& dice = scene.world.dice();
  const stop_token stop = (co_await this_task::environment()).stop;
  while (scene.seen.answers < answered_least && !stop.stop_requested()) {
    ++scene.seen.requests;
    const inquiry asked = draw_inquiry(scene);
    const unsigned ends_before = scene.server_ends;
    given came;
    const bool was_given_up = co_await ask_impatiently(scene, shard, client, asked, came);
    const bool has_ended = scene.servers_ending != 0 || scene.server_ends != ends_before;
    if (!shard.crashed())
      judge(scene, asked, came, was_given_up || has_ended || scene.has_struck());
    const bool is_answered = came->has_value();
    if (!is_answered || dice.chance(1, 2))
      std::ignore = co_await sleep_for(shard.loop(), draw_duration(dice, 10ms));
  }
}

task<void> ask_all(asking_scene& scene, sim_shard& shard) {
  random& dice = scene.world.dice();
  telemetry::meter& meter = scene.of_client.shard(shard.index());
  http::client client{{.connections_per_host = dice.between(1U, 4U),
                       .idle_timeout = draw_duration(dice, 20ms),
                       .connect_timeout = 1s,
                       .timeout = 2s,
                       .retries = scene.retries,
                       .retry_percent = dice.chance(1, 2) ? 100U : 10U,
                       .http2 = scene.http2},
                      shard.loop(),
                      meter};
  scope work{co_await this_task::environment()};
  for (unsigned i = 0; i < askers_per_shard; ++i) work.spawn(keep_asking(scene, shard, client));
  co_await work.join();
  std::ignore = co_await client.stop();
}

std::uint64_t total(const telemetry::snapshot& seen, std::string_view name) {
  const auto* const found = seen.find(name);
  return found == nullptr ? 0 : static_cast<std::uint64_t>(found->value);
}

}  // namespace

client_outcome run_client_scenario(std::uint64_t seed) {
  sim_world world{seed};
  asking_scene scene{.world = world};
  random& dice = world.dice();
  if (dice.chance(1, 2)) scene.retries = dice.between(1U, 2U);
  if (dice.chance(1, 2)) scene.http2 = http::client_http2::always;
  scene.server = &world.add_host("server", dice.between(1U, 2U));
  scene.server->serves([&](sim_shard& shard) { return answer(scene, shard); });
  if (dice.chance(1, 2)) scene.server->may_crash();
  auto& asking = world.add_host("client", dice.between(1U, 2U));
  asking.runs([&](sim_shard& shard) { return ask_all(scene, shard); });
  if (dice.chance(1, 2)) asking.may_crash();
  world.run();
  const telemetry::snapshot seen = scene.of_client.read();
  world.expect(total(seen, "http_client_connections") == 0, "no connection is left");
  scene.seen.reused = total(seen, "http_client_connections_reused_total");
  scene.seen.retries = total(seen, "http_client_retries_total");
  scene.seen.faults = world.network().counts();
  return scene.seen;
}

}  // namespace weft::simulation
