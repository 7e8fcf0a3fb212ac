#include <weft/http/server.hpp>

#include <algorithm>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/scope.hpp>
#include <weft/http/client_finder.hpp>
#include <weft/http/connection.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/http2/server_session.hpp>
#include <weft/http/log_dropped.hpp>
#include <weft/http/proxy_door.hpp>
#include <weft/http/server_settings.hpp>
#include <weft/http/tls_door.hpp>
#include <weft/http/trusted_proxies.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/mesh.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/net/address_book.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/net/tls_info.hpp>

namespace weft::http {
namespace {

/// Of those beyond the limit, so many at a time are told why; more are closed without a word.
constexpr std::size_t turned_away_most = 256;
constexpr duration said_again_after = std::chrono::minutes{1};
/// For a stop() that nobody gave a deadline.
constexpr duration drain_time = std::chrono::seconds{10};
/// Until what found no memory is tried again.
constexpr duration memory_pause = std::chrono::milliseconds{10};

/// For those whose options nobody has asked for their faults.
template <class T>
result<T> logged(std::expected<T, option_fault> read) {
  if (read) return std::move(*read);
  log::error(weft::format("http.server.{}: {}", read.error().option, read.error().what));
  return fail(errc::invalid_argument);
}

struct newcomer {
  net::tcp_stream stream;
  std::optional<connection_peer> client{};  // as a balancer has said
};

/// Counted as long as it lives.
class counted {
 public:
  explicit counted(std::size_t& count) noexcept : count_{++count} {}
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --count_; }

 private:
  std::size_t& count_;
};

}  // namespace

struct server::state final : connection_host {
  state(server_options given, event_loop& on, net::address_book& book, telemetry::meter& meter,
        lifetime* owner)
      : connection_host{given.limits, on, meter, owner},
        options{std::move(given)},
        addresses{book},
        door{on, options.tls.handshakes_per_turn},
        accepting{environment{.runs_on = &on, .owner = owner}} {
    draining = drain_begun.token();
    serves_half_closed = options.serve_half_closed;
    serves_http2 = options.http2;
    if (options.forwarding != forwarding::none)
      around.add(make_middleware(client_finder{options.forwarding, trusted}), nullptr);
    if (options.proxy_protocol == proxy_protocol::required)
      proxies.emplace(on, trusted, limits.header_timeout, meter);
  }
  ~state() { WEFT_ASSERT(clients.empty(), "a server ends after its connections: stop() it first"); }

  [[nodiscard]] std::size_t served() const noexcept { return clients.size() - turned_away; }
  [[nodiscard]] bool is_full() const noexcept { return served() + entering >= limits.connections; }
  void join_spread();
  [[nodiscard]] bool is_passed_on(net::tcp_stream& stream);
  task<void> accept_all();
  task<bool> accept_one();
  void admit(net::tcp_stream stream);
  task<void> let_in(net::tcp_stream stream);
  [[nodiscard]] task<result<newcomer>> pass_doors(net::tcp_stream stream);
  void serve(newcomer who);
  void tell_full();
  void tell_short();
  task<result<void>> drain();
  task<void> see_drain_end() { co_await until_stopped{loop}; }
  task<void> let_all_go(environment patience);
  task<void> see_all_go();
  task<void> close_doors();
  void leave_idle();
  task<void> cut(time_point when);

  server_options options;
  trusted_proxies trusted;  // once it has started
  net::address_book& addresses;
  std::optional<proxy_door> proxies;
  tls_door door;
  std::size_t entering = 0;  // between two doors
  stop_source drain_begun;
  stop_source drain_ended;
  scope accepting;
  std::optional<net::tcp_listener> listener;
  std::optional<net::endpoint> address;
  std::optional<net::spread_place> place;
  time_point quiet_until = time_point::min();  // for the log: at the limit, it comes and goes
};

task<void> server::state::accept_all() {
  for (bool goes_on = true; goes_on;) {
    try {
      goes_on = co_await accept_one();
      continue;
    } catch (const std::bad_alloc& why) {
      log_dropped(why, "a connection in line");
    }
    goes_on = (co_await sleep_for(loop, memory_pause)).has_value();
  }
}

/// False: there is nobody to be accepted any more.
task<bool> server::state::accept_one() {
  for (;;) {
    auto stream = co_await listener->accept();
    if (stream) {
      if (!is_passed_on(*stream)) admit(std::move(*stream));
      continue;
    }
    const error why = stream.error();
    if (why == errc::cancelled) co_return false;
    // A Unix socket is shared by the shards: the first that stops shuts it down for all.
    if (why != errc::invalid_argument)
      log::error(weft::format("accepting on {} has ended, nobody is let in any more: {}",
                              address->to_string(), why.message()));
    listener.reset();  // the kernel sends newcomers to the other shards, or refuses them
    co_return false;
  }
}

void server::state::join_spread() {
  mesh_port* const port = loop.port();
  if (!options.spread_connections || port == nullptr || port->shards().size() == 1) return;
  place.emplace(addresses.spread(options.listen, port->shards().size()), loop,
                [this](net::tcp_stream stream) { admit(std::move(stream)); });
  spread = &*place;
}

bool server::state::is_passed_on(net::tcp_stream& stream) {
  try {
    return place && place->pass_on(stream);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void server::state::admit(net::tcp_stream stream) {
  if (!door.is_open() && !proxies) {
    serve({.stream = std::move(stream)});
    return;
  }
  try {
    // Without a word: they could not read it before they have shaken hands, and a balancer before
    // it has sent its header is no client.
    if (is_full()) return tell_full();
    workers.spawn(let_in(std::move(stream)));
  } catch (const std::exception& why) {
    log_dropped(why);
  }
}

task<void> server::state::let_in(net::tcp_stream stream) {
  try {
    auto who = co_await pass_doors(std::move(stream));
    if (who) serve(std::move(*who));
  } catch (const std::exception& why) {
    log_dropped(why);
  }
}

task<result<newcomer>> server::state::pass_doors(net::tcp_stream stream) {
  const counted one_more{entering};
  newcomer who{.stream = std::move(stream)};
  if (proxies) {
    auto client = co_await proxies->pass(who.stream);
    if (!client) co_return fail(client.error());
    who.client = *client;
  }
  if (door.is_open()) {
    auto secured = co_await door.pass(std::move(who.stream));
    if (!secured) {
      if (secured.error() == errc::limit_exceeded) tell_short();
      co_return fail(secured.error());
    }
    who.stream = std::move(*secured);
  }
  co_return who;
}

void server::state::serve(newcomer who) {
  try {
    const bool is_late = is_full();
    if (is_late) tell_full();
    const net::tls_info* const tls = who.stream.tls();
    const bool is_http2 = tls != nullptr && tls->protocol == "h2";
    // Who is told why is told so over HTTP/1.1.
    if (is_late && (is_http2 || turned_away >= turned_away_most)) return;
    counts.accepted.add();
    if (is_http2) return http2::server_session::begin(*this, std::move(who.stream), who.client, {});
    auto client = std::make_unique<connection>(*this, std::move(who.stream), who.client);
    if (is_late)
      connection::turn_away(std::move(client));
    else
      connection::begin(std::move(client));
  } catch (const std::exception& why) {
    log_dropped(why);
  }
}

void server::state::tell_full() {
  counts.turned_away.add();
  if (loop.now() < quiet_until) return;
  quiet_until = loop.now() + said_again_after;
  log::warning(weft::format("{} connections are open, the limit: more are refused", served()));
}

void server::state::tell_short() {
  counts.turned_away.add();
  if (loop.now() < quiet_until) return;
  quiet_until = loop.now() + said_again_after;
  log::warning(
      weft::format("{} connections, open or in their handshakes, hold as much memory as they may: "
                   "more are refused",
                   served() + entering));
}

/// Each call cuts at its own deadline what has not ended by then; the first one drains.
task<result<void>> server::state::drain() {
  const bool is_first = drain_begun.request_stop();
  deadline until = (co_await this_task::environment()).until;
  if (until.is_never()) until = deadline::at(loop.now() + drain_time);
  const environment patience{.stop = {}, .until = until, .runs_on = &loop};
  const environment until_it_ends{.stop = drain_ended.token(), .until = {}, .runs_on = &loop};
  scope cutting{environment{.runs_on = &loop}, failure_policy::collect};
  if (is_first)
    for (client_link* each : clients) each->prepare_to_leave();
  // However often there is no memory for it: who is left behind would be served by nobody.
  for (bool is_cutting = false, has_ended = false; !has_ended;) {
    try {
      if (!std::exchange(is_cutting, true)) cutting.spawn(cut(until.when()));
      if (is_first)
        co_await let_all_go(patience);
      else
        co_await see_drain_end().in(until_it_ends);
      has_ended = true;
      continue;
    } catch (const std::exception& why) {
      log_dropped(why, "a step of the server's end");
    }
    static_cast<void>(co_await sleep_for(loop, memory_pause));
  }
  if (is_first) drain_ended.request_stop();
  cutting.request_stop();
  co_await cutting.join();
  co_return result<void>{};
}

task<void> server::state::let_all_go(environment patience) {
  if (listener) co_await close_doors().in(patience);
  // What others pass on comes by their next turn: no deadline cuts that.
  if (place) co_await place->close().in({.stop = {}, .until = {}, .runs_on = &loop});
  leave_idle();
  co_await see_all_go().in({.stop = {}, .until = {}, .runs_on = &loop});
}

task<void> server::state::see_all_go() {
  while (!clients.empty() || workers.active() != 0) {
    co_await workers.join();
    all_gone.reset();
    if (!clients.empty()) std::ignore = co_await all_gone.wait();
  }
}

/// Lets in who stands in line or shakes hands, and nobody after them.
task<void> server::state::close_doors() {
  listener->refuse_newcomers();
  if (options.drain_idle != duration::zero())
    std::ignore = co_await sleep_for(loop, options.drain_idle);
  accepting.request_stop();
  co_await accepting.join();
  leave_idle();  // now: their descriptors may be what accepting waits for
  while (listener) {
    auto stream = co_await listener->accept_waiting();
    if (stream) {
      admit(std::move(*stream));
      continue;
    }
    if (stream.error() != errc::closed && stream.error() != errc::invalid_argument)
      log::warning(weft::format("who still stood in line on {} is cut: {}", address->to_string(),
                                stream.error().message()));
    listener.reset();
  }
}

void server::state::leave_idle() {
  grace_is_over = true;
  for (client_link* each : clients) each->leave_if_idle();
}

/// What has not ended by `when` is told to, by name.
task<void> server::state::cut(time_point when) {
  constexpr std::size_t named_most = 8;
  if (!co_await sleep_until{loop, when}) co_return;
  const std::size_t left = clients.size() + entering;
  if (left == 0) co_return;
  std::string names;
  for (const client_link* each : std::span{clients}.first(std::min(clients.size(), named_most)))
    names += weft::format("{} {}", names.empty() ? ":" : ";", each->description());
  if (clients.size() > named_most) names += "; ...";
  log::warning(weft::format("the time to drain is over, {} connection{} cut{}", left,
                            left == 1 ? " is" : "s are", names));
  workers.request_stop();
  for (client_link* each : clients) each->cut();
}

server::server(server_options options, event_loop& loop, net::address_book& addresses,
               telemetry::meter& meter)
    : state_{std::make_unique<state>(std::move(options), loop, addresses, meter,
                                     lifetime::current())} {}

server::~server() = default;

server& server::route(method which, std::string_view pattern, route_handler answer, lifetime* owner,
                      const route_limits& bounds) {
  const auto added = state_->routes.add(which, pattern, std::move(answer), owner, bounds);
  if (!added) throw std::invalid_argument{added.error()};
  return *this;
}

server& server::add_around(middleware around, lifetime* owner, std::shared_ptr<const cors> policy) {
  state_->around.add(std::move(around), owner, std::move(policy));
  return *this;
}

result<void> server::start() {
  const auto unix_mode = logged(read_unix_mode(state_->options));
  if (!unix_mode) return fail(unix_mode.error());
  if (state_->options.listen.empty()) return {};
  auto trusted = logged(read_trusted_proxies(state_->options));
  if (!trusted) return fail(trusted.error());
  state_->trusted = std::move(*trusted);
  const tls_options& tls = state_->options.tls;
  if (tls != tls_options{}) {  // who asks for any of it must not be served without
    const std::string& address = state_->options.listen;
    const auto opened = state_->door.open(tls, address, state_->options.http2,
                                          state_->addresses.ticket_keys(address));
    if (!opened) return opened;
  }
  auto listener = state_->addresses.listen(state_->loop, state_->options.listen,
                                           {.backlog = state_->options.backlog,
                                            .deferred = state_->options.defer_accept,
                                            .unix_mode = *unix_mode});
  if (!listener) return fail(listener.error());
  state_->address = listener->local_endpoint();
  state_->listener.emplace(std::move(*listener));
  state_->join_spread();
  state_->accepting.spawn(state_->accept_all());
  return {};
}

result<void> server::reload() { return state_->door.reload(state_->options.listen); }

bool server::is_listening() const noexcept { return state_->listener && !is_draining(); }

task<result<void>> server::stop() { return state_->drain(); }

net::endpoint server::local_endpoint() const {
  WEFT_ASSERT(state_->address.has_value(), "a server has an address once it has started");
  return *state_->address;
}

std::vector<route_view> server::routes() const { return state_->routes.all(); }

std::uint64_t server::route_changes() const noexcept { return state_->routes.changes(); }

bool server::is_draining() const noexcept { return state_->draining.stop_requested(); }

std::size_t server::connections() const noexcept { return state_->served(); }

std::uint64_t server::requests() const noexcept { return state_->requests; }

}  // namespace weft::http
