#include "reply_rate_scenario.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/coro/scope.hpp>
#include <weft/http/server.hpp>
#include <weft/loop/memory_share.hpp>

#include "scenario.hpp"
#include "take_log.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;
using testing::sim_shard;
using testing::sim_world;

constexpr unsigned taker_hosts = 2;
constexpr unsigned takers_per_shard = 3;
constexpr unsigned replies_per_taker = 4;
/// What one read takes from the network: its client cannot take less at a time.
constexpr std::size_t read_bytes = 16 * 1024;
/// What the server need not wait for: it is in the kernel, in the queue or in one piece.
constexpr std::size_t unwatched_bytes = 64 * 1024 + net::tcp_stream::high_watermark + 64 * 1024;
/// An operation that is to end may hear of it so late.
constexpr duration lateness = 500ms;
/// For so long a stream that was let go sends what is queued, and a client may take it.
constexpr duration linger_time = 5s;

struct rate_scene {
  sim_world& world;
  testing::sim_host_box* server = nullptr;
  net::address_book addresses{};
  telemetry::registry metrics{{.shards = 2, .series_max = 64, .histograms_max = 1}};
  http::limits limits{};
  reply_rate_outcome seen{};
  std::uint64_t last_id = 0;
  std::vector<std::optional<error>> told{};  // by the id of a streamed reply: its handler
  std::vector<std::uint64_t> were_left{};    // replies, by their clients
  /// Of each connection that may have been dropped: its last reply.
  std::vector<std::uint64_t> ended_with{};
  unsigned servers_ending = 0;
  unsigned server_ends = 0;

  /// Changes with each end of a server, and each fault that keeps a whole host from its work.
  [[nodiscard]] std::uint64_t disturbed() const noexcept {
    const sim_fault_counts& counts = world.network().counts();
    return server_ends + counts[static_cast<std::size_t>(sim_fault::pause)] +
           counts[static_cast<std::size_t>(sim_fault::crash)];
  }
  [[nodiscard]] duration span() const noexcept { return limits.write_stall_timeout; }
  /// To be taken in that time.
  [[nodiscard]] std::size_t least() const noexcept {
    return limits.reply_bytes_per_second * static_cast<std::size_t>(span() / 1ms) / 1'000;
  }
};

// The server.

/// An end is told once, and stays what it was.
task<result<void>> note_end(rate_scene& scene, std::uint64_t id, error why,
                            http::body_writer& out) {
  scene.told.resize(scene.last_id + 1);
  scene.world.expect(!scene.told[id].has_value(), "a handler is told one end");
  scene.told[id] = why;
  if (why != errc::cancelled) {
    const auto again = co_await out.write("more");
    scene.world.expect(!again && again.error() == why, "an end stays what it was");
  }
  co_return fail(why);
}

task<result<void>> pour_reply(rate_scene& scene, std::uint64_t id, std::string text,
                              http::body_writer& out) {
  random& dice = scene.world.dice();
  out.start({http::status::ok, http::application_octet_stream, {}}, text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view piece =
        rest.substr(0, dice.between<std::size_t>(1, std::min<std::size_t>(rest.size(), 60'000)));
    if (const auto written = co_await out.write(piece); !written)
      co_return co_await note_end(scene, id, written.error(), out);
    rest.remove_prefix(piece.size());
  }
  co_return result<void>{};
}

void add_replies(http::server& http, rate_scene& scene) {
  http.get("/whole/{id}/{size}", [](const http::request& r) {
    return pattern(number_in(r, "id"), number_in(r, "size"));
  });
  http.get("/poured/{id}/{size}", [&scene](const http::request& r, http::body_writer& out) {
    const std::uint64_t id = number_in(r, "id");
    return pour_reply(scene, id, pattern(id, number_in(r, "size")), out);
  });
}

void expect_no_memory_kept(rate_scene& scene, event_loop& loop) {
  const memory_gauges now = loop.memory().gauges();
  for (const memory_kind each : {memory_kind::requests, memory_kind::bodies, memory_kind::output,
                                 memory_kind::shared, memory_kind::replies})
    scene.world.expect(now.bytes[static_cast<std::size_t>(each)] == 0,
                       "no memory of a reply is kept");
}

/// Until those that have gone are known to have.
task<void> stay_a_while(event_loop& loop) { std::ignore = co_await sleep_for(loop, 1min); }

constexpr duration to_the_end = std::chrono::hours{10};

task<void> serve_for(rate_scene& scene, sim_shard& shard, duration length) {
  event_loop& loop = shard.loop();
  http::server http{{.listen = ":80", .limits = scene.limits},
                    loop,
                    scene.addresses,
                    scene.metrics.shard(shard.index())};
  add_replies(http, scene);
  scene.world.expect(http.start().has_value() || shard.crashed(), "the server starts");
  std::ignore = co_await sleep_for(loop, length);
  if (length == to_the_end) {
    co_await stay_a_while(loop).in({.runs_on = &loop});
    scene.world.expect(http.connections() == 0 || shard.crashed(), "no connection is left");
    if (!shard.crashed()) expect_no_memory_kept(scene, loop);
  }
  ++scene.server_ends;
  ++scene.servers_ending;
  const environment own{
      .until = deadline::at(loop.now() + draw_duration(scene.world.dice(), 300ms)),
      .runs_on = &loop};
  std::ignore = co_await http.stop().in(own);
  --scene.servers_ending;
  ++scene.server_ends;
}

task<void> serve(rate_scene& scene, sim_shard& shard) {
  const stop_token stop = (co_await this_task::environment()).stop;
  random& dice = scene.world.dice();
  if (dice.chance(1, 4)) co_await serve_for(scene, shard, draw_duration(dice, 5s));
  if (!stop.stop_requested()) co_await serve_for(scene, shard, to_the_end);
}

// The clients.

enum class habit : std::uint8_t {
  keeps_rate,
  too_slow,
  pauses,  // for any time, and is fast before and after it
  leaves   // is too slow, and closes the connection at about the time when it is dropped
};

/// A client, its connection, and the reply that it takes.
class taker {
 public:
  /// `disturbed_before`: when it began to connect.
  taker(rate_scene& scene, sim_shard& shard, net::tcp_stream& stream,
        std::uint64_t disturbed_before) noexcept
      : scene_{scene},
        shard_{shard},
        loop_{shard.loop()},
        stream_{stream},
        self_{stream.local_endpoint().value()},
        connected_{loop_.now()},
        disturbed_before_{disturbed_before} {}

  /// False: the connection is of no more use.
  task<bool> take_reply();
  /// Before it closes the connection.
  void note_if_dropped() const;

 private:
  [[nodiscard]] random& dice() const noexcept { return scene_.world.dice(); }
  [[nodiscard]] std::size_t taken() const noexcept { return log_.total() - reply_at_; }
  [[nodiscard]] bool has_all() const noexcept { return body_at_ != 0 && taken() == size_all_; }
  [[nodiscard]] bool is_over() const noexcept { return end_ || has_all() || shard_.crashed(); }
  void begin();
  task<void> take_some(duration patience);
  void check(std::string_view bytes);
  task<void> take_within(habit how);
  /// At least so much, or all there is, until the connection ends. Given up at `until`.
  task<void> take_for_step(std::size_t size_bytes, time_point until);
  task<void> take_rest();
  /// After so long, who is too slow is dropped, and nothing is left of the reply.
  [[nodiscard]] duration slow_for() const noexcept {
    return 2 * scene_.span() + lateness + linger_time;
  }
  /// Takes the rest of the reply; there is none if this was too slow.
  task<void> expect_dropped();
  void judge_end();
  /// Something else may have ended the connection, or kept the server from looking.
  [[nodiscard]] bool is_excused() const noexcept {
    return scene_.servers_ending != 0 || scene_.disturbed() != disturbed_before_ ||
           shard_.crashed() || scene_.world.network().was_struck(self_.raw());
  }

  rate_scene& scene_;
  sim_shard& shard_;
  event_loop& loop_;
  net::tcp_stream& stream_;
  net::endpoint self_;
  const time_point connected_;
  const std::uint64_t disturbed_before_;
  take_log log_;              // of all replies
  std::optional<error> end_;  // of the connection

  // Of this reply.
  std::uint64_t id_ = 0;
  bool is_poured_ = false;
  std::string expected_;      // body
  std::string head_;          // as far as it has come
  std::size_t body_at_ = 0;   // where it begins; 0: the head has not come
  std::size_t size_all_ = 0;  // head and body
  std::size_t reply_at_ = 0;  // in the log
  time_point began_{};
  time_point head_came_{};  // by now the server waits
};

void taker::begin() {
  id_ = ++scene_.last_id;
  is_poured_ = dice().chance(1, 2);
  // More than the server need not wait for, or the rate plays no part.
  expected_ = pattern(id_, unwatched_bytes + dice().below(8 * scene_.least()));
  head_.clear();
  body_at_ = 0;
  reply_at_ = log_.total();
  began_ = loop_.now();
}

void taker::check(std::string_view bytes) {
  scene_.world.expect(!has_all(), "nothing follows a reply");
  if (body_at_ == 0) {
    head_ += bytes;
    const std::size_t end = head_.find("\r\n\r\n");
    if (end == head_.npos) return;
    body_at_ = end + 4;
    head_came_ = loop_.now();
    scene_.world.expect(head_.starts_with("HTTP/1.1 200 "), "a reply has the status it ought to");
    size_all_ = body_at_ + expected_.size();
    bytes = std::string_view{head_}.substr(body_at_);
    scene_.world.expect(expected_.starts_with(bytes), "a reply begins as it ought to");
    return;
  }
  scene_.world.expect(std::string_view{expected_}.substr(taken() - body_at_).starts_with(bytes),
                      "what comes is the reply, byte for byte");
}

task<void> taker::take_some(duration patience) {
  const bool is_hasty = dice().chance(1, 4);
  const bool by_another = is_hasty && dice().chance(1, 2);
  const auto bytes = co_await impatient_read(
      stream_, loop_, is_hasty ? std::min(patience, draw_duration(dice(), 3ms)) : patience,
      by_another);
  if (bytes) {
    check(bytes->text());
    log_.note(loop_.now(), bytes->size());
  } else if (was_given_up(bytes.error())) {
    ++scene_.seen.called_off;
  } else {
    end_ = bytes.error();
  }
}

task<void> taker::take_for_step(std::size_t size_bytes, time_point until) {
  const std::size_t enough = taken() + size_bytes;
  while (!is_over() && taken() < enough && loop_.now() < until)
    co_await take_some(until - loop_.now());
}

task<void> taker::take_rest() {
  co_await take_for_step(SIZE_MAX / 2, loop_.now() + 5min);
  scene_.world.expect(is_over(), "a reply goes on, or it has ended");
}

task<void> taker::expect_dropped() {
  const time_point now = loop_.now();
  const time_point since = now - slow_for();
  const bool is_watched = body_at_ != 0 && size_all_ - taken() > unwatched_bytes;
  const bool is_too_slow =
      is_watched && head_came_ <= since &&
      log_.most(since, now - linger_time, scene_.span()) + read_bytes < scene_.least();
  co_await take_rest();
  if (is_too_slow && !is_excused())
    scene_.world.expect(!has_all(), "a client that is too slow is dropped within twice the time");
}

/// Steps are an eighth of the time over which the rate is judged.
task<void> taker::take_within(habit how) {
  const duration step = scene_.span() / 8;
  const std::size_t least = scene_.least();
  const time_point leaves_at =
      how == habit::leaves ? began_ + scene_.span() + step + draw_duration(dice(), 400ms) - 200ms
                           : time_point::max();
  const bool begins_fast = dice().chance(1, 2);
  co_await take_for_step(begins_fast ? dice().below(expected_.size()) : 1, loop_.now() + 4 * step);
  if (how == habit::pauses) {
    if (is_over()) co_return;
    const duration longest = dice().chance(1, 2) ? 2 * scene_.span() : 2 * slow_for();
    std::ignore = co_await sleep_for(loop_, draw_duration(dice(), longest));
    co_return co_await expect_dropped();
  }
  for (const time_point slow_since = loop_.now(); !is_over();) {
    const time_point next = loop_.now() + step;
    if (how == habit::keeps_rate) {
      co_await take_for_step(least / 4, next);
    } else {
      if (loop_.now() >= leaves_at) co_return;
      if (loop_.now() >= slow_since + slow_for() + lateness) co_return co_await expect_dropped();
      if (dice().chance(1, 16)) co_await take_for_step(1, next);
    }
    if (loop_.now() < next) std::ignore = co_await sleep_for(loop_, next - loop_.now());
  }
}

void taker::judge_end() {
  if (has_all()) {
    ++scene_.seen.replies;
    return;
  }
  if (!end_ || is_excused()) {
    ++scene_.seen.broken;
    return;
  }
  // What was too slow may have been the reply before.
  const std::size_t fewest = log_.fewest(connected_, loop_.now(), scene_.span());
  scene_.world.expect(fewest < scene_.least() + read_bytes,
                      "a client that keeps the rate keeps its connection");
  ++scene_.seen.dropped;
}

task<bool> taker::take_reply() {
  begin();
  const auto sent =
      co_await stream_.write(weft::format("GET /{}/{}/{} HTTP/1.1\r\nHost: a\r\n\r\n",
                                          is_poured_ ? "poured" : "whole", id_, expected_.size()));
  if (!sent) {
    ++scene_.seen.broken;
    co_return false;
  }
  constexpr habit habits[] = {habit::keeps_rate, habit::too_slow, habit::pauses, habit::leaves};
  const habit how = habits[dice().below(std::size(habits))];
  co_await take_within(how);
  if (how == habit::leaves && !end_ && !has_all()) {
    ++scene_.seen.left;
    scene_.were_left.push_back(id_);
    co_return false;
  }
  if (!end_ && !has_all()) co_await take_rest();
  judge_end();
  if (end_) {
    const auto again = co_await stream_.read();
    scene_.world.expect(!again, "nothing comes after the end");
  }
  co_return !end_;
}

void taker::note_if_dropped() const {
  const bool kept_rate = log_.fewest(connected_, loop_.now(), scene_.span()) >= 2 * scene_.least();
  if (!has_all() || !kept_rate) scene_.ended_with.push_back(id_);
}

task<void> take_from(rate_scene& scene, sim_shard& shard) {
  random& dice = scene.world.dice();
  const stop_token stop = (co_await this_task::environment()).stop;
  for (unsigned left = replies_per_taker; left > 0 && !stop.stop_requested();) {
    const std::uint64_t disturbed_before = scene.disturbed();
    auto stream =
        co_await net::tcp_stream::connect(shard.loop(), scene.server->endpoint(http_port));
    if (stream) {
      taker one{scene, shard, *stream, disturbed_before};
      bool is_of_use = true;
      for (; is_of_use && left > 0 && !stop.stop_requested(); --left)
        is_of_use = co_await one.take_reply();
      one.note_if_dropped();
    }
    std::ignore = co_await sleep_for(shard.loop(), draw_duration(dice, 20ms));
  }
}

task<void> take_all(rate_scene& scene, sim_shard& shard) {
  scope work{co_await this_task::environment()};
  for (unsigned i = 0; i < takers_per_shard; ++i) work.spawn(take_from(scene, shard));
  co_await work.join();
}

void draw_limits(rate_scene& scene) {
  random& dice = scene.world.dice();
  const auto milliseconds = dice.between<std::uint32_t>(300, 1'000);
  const auto least = dice.between<std::uint32_t>(5 * read_bytes, 10 * read_bytes);
  scene.limits.write_stall_timeout = std::chrono::milliseconds{milliseconds};
  scene.limits.reply_bytes_per_second = least / milliseconds * 1'000;
}

}  // namespace

reply_rate_outcome& reply_rate_outcome::operator+=(const reply_rate_outcome& more) noexcept {
  replies += more.replies;
  dropped += more.dropped;
  broken += more.broken;
  left += more.left;
  dropped_first += more.dropped_first;
  left_first += more.left_first;
  called_off += more.called_off;
  for (std::size_t i = 0; i < faults.size(); ++i) faults[i] += more.faults[i];
  return *this;
}

reply_rate_outcome run_reply_rate_scenario(std::uint64_t seed) {
  sim_world world{seed};
  rate_scene scene{.world = world};
  random& dice = world.dice();
  draw_limits(scene);
  scene.server = &world.add_host("server", dice.between(1U, 2U));
  scene.server->serves([&](sim_shard& shard) { return serve(scene, shard); });
  if (dice.chance(1, 4)) scene.server->may_crash();
  for (unsigned i = 0; i < taker_hosts; ++i) {
    auto& host = world.add_host("client");
    host.runs([&](sim_shard& shard) { return take_all(scene, shard); });
    if (dice.chance(1, 4)) host.may_crash();
  }
  world.run();
  const telemetry::snapshot seen = scene.metrics.read();
  const auto* const counted = seen.find("http_slow_readers_total");
  const auto dropped = counted == nullptr ? 0 : static_cast<std::uint64_t>(counted->value);
  world.expect(dropped >= scene.seen.dropped, "a client that is dropped is counted");
  // The handler of a streamed reply knows.
  const auto may_be = std::ranges::count_if(scene.ended_with, [&](std::uint64_t id) {
    const bool is_told = id < scene.told.size() && scene.told[id];
    return !is_told || *scene.told[id] == errc::timed_out;
  });
  world.expect(dropped <= static_cast<std::uint64_t>(may_be),
               "a client that is dropped is counted once");
  for (const std::uint64_t id : scene.were_left)
    if (id < scene.told.size() && scene.told[id])
      ++(*scene.told[id] == errc::timed_out ? scene.seen.dropped_first : scene.seen.left_first);
  scene.seen.fingerprint = world.fingerprint();
  scene.seen.faults = world.network().counts();
  return scene.seen;
}

}  // namespace weft::simulation
