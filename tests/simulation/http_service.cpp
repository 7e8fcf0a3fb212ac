#include <chrono>
#include <stdexcept>

#include <weft/coro/with_deadline.hpp>
#include <weft/http/multipart_reader.hpp>
#include <weft/http/server.hpp>
#include <weft/loop/on.hpp>
#include <weft/net/address_book.hpp>

#include "scenario.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;
using http::request;

/// Notes that a request has been handled, which happens once at most.
std::uint64_t begin(scene& scene, const request& r) {
  const std::uint64_t id = number_in(r, "id");
  scene.handled.resize(scene.last_id + 1);
  scene.world.expect(id <= scene.last_id && scene.handled[id]++ == 0, "a request is handled once");
  return id;
}

task<result<std::string_view>> hasty_read(http::body_reader& in, event_loop& loop, random& dice) {
  for (;;) {
    const duration patience = dice.chance(1, 4) ? draw_duration(dice, 1ms) : duration{1h};
    const auto piece = co_await with_timeout(patience, in.read());
    if (piece || piece.error() != errc::timed_out || in.is_lost()) co_return piece;
    if (dice.chance(1, 2)) co_await yield{loop};
  }
}

/// Gives back what it gets, as it comes.
task<result<void>> relay(http::body_reader& in, http::body_writer& out, event_loop& loop,
                         random& dice) {
  if (in.length() && dice.chance(1, 2))
    out.start({http::status::ok, http::application_octet_stream, {}}, in.length());
  for (;;) {
    const auto piece = co_await hasty_read(in, loop, dice);
    if (!piece) break;
    if (dice.chance(1, 8)) std::ignore = co_await sleep_for(loop, draw_duration(dice, 2ms));
    const auto written = co_await out.write(*piece);
    if (!written) co_return written;
  }
  co_return in.outcome();
}

/// `text` in pieces, some of them late.
task<result<void>> pour(std::string text, http::body_writer& out, event_loop& loop, random& dice) {
  if (dice.chance(1, 2))
    out.start({http::status::ok, http::application_octet_stream, {}}, text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view piece = rest.substr(0, dice.between<std::size_t>(1, rest.size()));
    const auto written = co_await out.write(piece);
    if (!written) co_return written;
    rest.remove_prefix(piece.size());
    if (dice.chance(1, 8)) std::ignore = co_await sleep_for(loop, draw_duration(dice, 2ms));
  }
  co_return result<void>{};
}

/// What stands in the parts of a form, one behind the other, however impatiently they are read.
task<result<std::string>> gather(const request& r, http::body_reader& in, event_loop& loop,
                                 random& dice) {
  http::multipart_reader form{r, in};
  std::string all;
  const auto patience = [&dice] {
    return dice.chance(1, 4) ? draw_duration(dice, 1ms) : duration{1h};
  };
  for (;;) {
    auto part = co_await with_timeout(patience(), form.next());
    if (!part && (part.error() != errc::timed_out || in.is_lost())) break;
    while (part) {
      const auto piece = co_await with_timeout(patience(), part->read());
      if (piece) all += *piece;
      if (!piece && (piece.error() != errc::timed_out || in.is_lost())) break;
      if (dice.chance(1, 8)) co_await yield{loop};
    }
  }
  if (auto whole = form.outcome(); !whole) co_return fail(whole.error());
  co_return all;
}

void add_streams(http::server& http, scene& scene, event_loop& loop) {
  http.post("/relay/{id}",
            [&scene, &loop](const request& r, http::body_reader& in, http::body_writer& out) {
              begin(scene, r);
              return relay(in, out, loop, scene.world.dice());
            });
  http.get("/pour/{id}/{size}", [&scene, &loop](const request& r, http::body_writer& out) {
    return pour(pattern(begin(scene, r), number_in(r, "size")), out, loop, scene.world.dice());
  });
  http.post("/form/{id}", [&scene, &loop](const request& r, http::body_reader& in) {
    begin(scene, r);
    return gather(r, in, loop, scene.world.dice());
  });
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  http.post("/ignore/{id}", [&scene](const request& r, http::body_reader&) -> task<std::string> {
    co_return pattern(begin(scene, r), 100);
  });
}

/// Each request says for whom it speaks, in a field of its own.
void check_clients(http::server& http, scene& scene) {
  if (scene.before_server == go_between::none) return;
  http.wrap_all([&scene](http::exchange& e, http::handler& next) {
    const auto seen = e.client();
    scene.world.expect(seen && seen->to_string() == e.request().header("x-client"),
                       "the client is the one that was named");
    next(e);
  });
}

void add_routes(http::server& http, scene& scene, event_loop& loop) {
  check_clients(http, scene);
  add_streams(http, scene, loop);
  http.get("/text/{id}/{size}",
           [&scene](const request& r) { return pattern(begin(scene, r), number_in(r, "size")); });
  http.post("/echo/{id}", [&scene](const request& r) {
    begin(scene, r);
    return std::string{r.body()};
  });
  // The server keeps its handlers until their tasks have ended.
  // NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  http.get("/sleep/{id}/{size}", [&scene, &loop](const request& r) -> task<std::string> {
    const std::uint64_t id = begin(scene, r);
    const std::size_t size = number_in(r, "size");
    random& dice = scene.world.dice();
    // Some so long that the client is looked after, which may have gone.
    const duration most = dice.chance(1, 8) ? 1s : 20ms;
    std::ignore = co_await sleep_for(loop, draw_duration(dice, most));
    co_return pattern(id, size);
  });
  http.get("/elsewhere/{id}/{size}", [&scene](const request& r) -> task<std::string> {
    const std::uint64_t id = begin(scene, r);
    const std::size_t size = number_in(r, "size");
    const auto shards = static_cast<std::uint64_t>(scene.server->shards());
    const auto there = static_cast<unsigned>(scene.world.dice().below(shards));
    auto made = co_await on(there, [id, size] { return pattern(id, size); });
    co_return made ? std::move(*made) : pattern(id, size);
  });
  http.get("/throw/{id}", [&scene](const request& r) -> std::string {
    begin(scene, r);
    throw std::runtime_error{"as asked"};
  });
  http.get("/throw-late/{id}", [&scene, &loop](const request& r) -> task<std::string> {
    begin(scene, r);
    std::ignore = co_await sleep_for(loop, 1ms);
    throw std::runtime_error{"as asked"};
  });
  // NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)
}

/// From its making until its end, a server ends. Who came in between may hear of it later.
class ending {
 public:
  explicit ending(scene& scene) noexcept : scene_{scene} {
    ++scene.server_ends;
    ++scene.servers_ending;
  }
  ending(const ending&) = delete;
  ending& operator=(const ending&) = delete;
  ~ending() {
    ++scene_.server_ends;
    --scene_.servers_ending;
  }

 private:
  scene& scene_;
};

/// Serves until it is told to stop, or for so long.
task<void> serve_once(scene& scene, testing::sim_shard& shard, duration length) {
  event_loop& loop = shard.loop();
  http::limits limits;
  random& dice = scene.world.dice();
  limits.requests_per_connection = dice.chance(1, 4) ? 5 : 0;
  if (scene.server_is_full) limits.connections = dice.between(2U, 6U);
  if (scene.server_is_hasty) limits.handler_timeout = 10ms;
  const bool spreads = dice.chance(1, 2);
  http::server http{
      {.listen = ":80",
       .spread_connections = spreads,
       .serve_half_closed = !scene.server_wants_open_clients,
       .trusted_proxies = {"10.0.0.0/24"},
       .proxy_protocol = scene.before_server == go_between::balancer
                             ? http::proxy_protocol::required
                             : http::proxy_protocol::off,
       .forwarding = scene.before_server == go_between::proxy ? http::forwarding::forwarded
                                                              : http::forwarding::none,
       .limits = limits},
      loop,
      scene.addresses,
      scene.metrics.shard(shard.index())};
  add_routes(http, scene, loop);
  scene.world.expect(http.start().has_value() || shard.crashed(), "the server starts");
  std::ignore = co_await sleep_for(loop, length);
  const ending now{scene};
  environment own{.runs_on = &loop};
  if (dice.chance(1, 2)) own.until = deadline::at(loop.now() + draw_duration(dice, 300ms));
  const auto stopped = co_await http.stop().in(own);
  scene.world.expect(stopped.has_value(), "the server stops");
  scene.world.expect(http.connections() == 0, "a server that has stopped has no connections");
}

}  // namespace

task<void> serve_http(scene& scene, testing::sim_shard& shard) {
  random& dice = scene.world.dice();
  const stop_token stop = (co_await this_task::environment()).stop;
  // It is stopped at some moment, in the midst of its work, and started again.
  co_await serve_once(scene, shard, draw_duration(dice, 200ms));
  if (!stop.stop_requested()) co_await serve_once(scene, shard, std::chrono::hours{1});
}

}  // namespace weft::simulation
