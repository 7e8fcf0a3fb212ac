// An HTTP/1.1 server: routes, and the connections that are answered by them.
//
// Contract: a service; one a shard, listening on the address it shares with its siblings. Routes
// are added before start() or while it runs, on its shard; adding one that conflicts with another
// throws std::invalid_argument, which names both, as does one whose pattern lacks what its handler
// takes. What handlers may look like stands in handler.hpp. A route added in the constructor of a
// service, or in its start() before that first waits, ends with the service; later one says whose
// it is, by a `lifetime*`, or by nullptr that it is the server's own. A route that has ended is
// answered with 404; its handlers that wait go on, for limits::handler_timeout at most, and keep
// their service meanwhile. They work in its name (environment::owner). Requests of one connection
// are answered one at a time, in order, and the replies to pipelined ones leave together.
//
// stop() drains: it lets nobody else in, but accepts who stands in the kernel's line; it answers
// each request that has begun to come, and says `Connection: close` in the last reply; it keeps
// idle connections for drain_idle, since a client may be sending just now. What is left at the
// deadline of the task that awaits it (ten seconds, if that has none) is named in the log and cut:
// reading ends, and handlers are asked to stop. It returns when they have.
// docs/decisions/0005-drain.md has why.
//
//   explicit ping_api(http::server& http) {
//     http.post("/ping", [](ping p) { return p; });       // ends with this ping_api
//   }
//   http.get("/late", [] { return "here"; }, &own);       // `lifetime& own`: after a wait
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/forwarded.hpp>
#include <weft/http/limits.hpp>
#include <weft/http/method.hpp>
#include <weft/http/middleware.hpp>
#include <weft/http/route_group.hpp>
#include <weft/http/route_handler.hpp>
#include <weft/http/route_view.hpp>
#include <weft/http/tls_options.hpp>
#include <weft/http/websocket/websocket_route.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/service/lifetime.hpp>

namespace weft {
class event_loop;
}

namespace weft::net {
class address_book;
}

namespace weft::telemetry {
class meter;
}

namespace weft::http {

/// Whether connections begin with what a balancer says of them (proxy_header.hpp).
enum class proxy_protocol : std::uint8_t { off, required };

struct server_options {
  /// "127.0.0.1:8080", "[::]:80", ":8080" for all IPv4 addresses, "unix:/run/app.sock",
  /// "systemd:NAME" for a socket that a service manager passes on; port 0 lets the system choose.
  /// Empty: nowhere, for a second server that is not always wanted.
  std::string listen = "127.0.0.1:8080";
  /// Who may connect to a Unix socket with a file: its permissions, "0660"; empty: what the umask
  /// leaves. That of the first who listens there counts.
  std::string unix_mode{};
  /// Connections the kernel may hold ready before they are accepted.
  int backlog = 4096;
  /// Whether the kernel keeps a connection until its first bytes have come (TCP_DEFER_ACCEPT).
  /// Where most bring one request it saves a wake-up each, a fifth of their cost and more. Who
  /// stays silent is known here a second later, and if the server ends before, hears nothing of
  /// that. TCP only, and no socket of a service manager's.
  bool defer_accept = false;
  /// While the server drains: how long a connection that nothing comes on is kept, in case that a
  /// request is under way. Also how long a handshake under way may take. At 0, only what has
  /// arrived is answered.
  duration drain_idle = std::chrono::milliseconds{100};
  /// Evens out what the kernel's choice of a shard leaves uneven: a newcomer is passed on to the
  /// shard with the fewest connections. For few connections that stay long, as WebSockets do; it
  /// costs each that is passed on some microseconds once.
  bool spread_connections = false;
  /// Whether a client that sends no more, while a handler works for it, waits for the reply. Else
  /// it is taken for gone, as one that has closed its connection looks the same.
  bool serve_half_closed = false;
  /// Whether HTTP/2 is spoken beside HTTP/1.1: with who agrees on it over TLS (ALPN), and in clear
  /// text with who begins to.
  bool http2 = true;
  /// The proxies and balancers before the server, which may say who the client is: networks
  /// ("10.0.0.0/8"), addresses, and "unix:" for whoever comes by a Unix socket.
  std::vector<std::string> trusted_proxies{};
  /// `required`: each connection is one of a trusted proxy's, and begins with its PROXY header, of
  /// version 1 or 2, within limits::header_timeout; then comes TLS, if that is spoken. All others
  /// are closed without a word.
  http::proxy_protocol proxy_protocol = http::proxy_protocol::off;
  /// The field in which trusted proxies say who the client is; it must be the one they really
  /// write: none, forwarded (RFC 7239), x_forwarded_for (with X-Forwarded-Proto).
  http::forwarding forwarding = http::forwarding::none;
  /// Without a certificate the server speaks no TLS; with one, nothing else.
  http::tls_options tls{};
  http::limits limits{};

  static constexpr auto bounds() { return weft::bounds(at_least<&server_options::backlog>(1)); }
  /// Reads the certificates, too.
  [[nodiscard]] std::vector<option_fault> faults() const;
};

class server {
 public:
  using options = server_options;

  /// `meter`: of the shard; server_counts.hpp says what is counted.
  server(server_options options, event_loop& loop, net::address_book& addresses,
         telemetry::meter& meter);
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server();

  template <class F>
  server& get(std::string_view pattern, F handler, lifetime* owner = lifetime::current()) {
    return add(method::get, pattern, std::move(handler), owner);
  }
  template <class F>
  server& post(std::string_view pattern, F handler, lifetime* owner = lifetime::current()) {
    return add(method::post, pattern, std::move(handler), owner);
  }
  template <class F>
  server& put(std::string_view pattern, F handler, lifetime* owner = lifetime::current()) {
    return add(method::put, pattern, std::move(handler), owner);
  }
  template <class F>
  server& patch(std::string_view pattern, F handler, lifetime* owner = lifetime::current()) {
    return add(method::patch, pattern, std::move(handler), owner);
  }
  template <class F>
  server& del(std::string_view pattern, F handler, lifetime* owner = lifetime::current()) {
    return add(method::delete_, pattern, std::move(handler), owner);
  }
  /// A route that is upgraded to a WebSocket: see websocket_route.hpp for what `handler` may be,
  /// and websocket.hpp for what it does with one.
  template <class F>
  server& websocket(std::string_view pattern, F handler, websocket_options options = {},
                    lifetime* owner = lifetime::current()) {
    return route(method::get, pattern,
                 ws::make_websocket_route(std::move(handler), std::move(options)), owner);
  }
  server& route(method which, std::string_view pattern, route_handler answer,
                lifetime* owner = lifetime::current(), const route_limits& bounds = {});

  /// A middleware (middleware.hpp) around all that is answered, what has no route included, inside
  /// those that were added before. Ends with `owner`, as a route does.
  template <class F>
  server& wrap_all(F around, lifetime* owner = lifetime::current()) {
    std::shared_ptr<const cors> policy = policy_of(around);
    return add_around(make_middleware(std::move(around)), owner, std::move(policy));
  }

  /// Routes with something in common: see route_group.hpp.
  [[nodiscard]] route_group group(std::string_view prefix) {
    return route_group{*this}.group(prefix);
  }
  [[nodiscard]] route_group within(const route_limits& bounds) {
    return route_group{*this}.within(bounds);
  }
  template <class F>
  [[nodiscard]] route_group wrap(F around) {
    return route_group{*this}.wrap(std::move(around));
  }

  /// Listens. errc::address_in_use and errc::invalid_argument are logged with the address, or with
  /// the file of a certificate and what is wrong with it.
  [[nodiscard]] result<void> start();
  /// Reads the files of `tls` again, for handshakes that begin from now on. If one is wrong, the
  /// log says so, and those of before are kept. Blocks for as long as reading files takes. An
  /// application calls it on SIGHUP.
  result<void> reload();
  /// Drains. Twice is once, and whoever asks again waits for the same end.
  [[nodiscard]] task<result<void>> stop();

  /// Where it listens, or has listened.
  [[nodiscard]] net::endpoint local_endpoint() const;
  /// Whether newcomers are let in now.
  [[nodiscard]] bool is_listening() const noexcept;

  /// In no order.
  [[nodiscard]] std::vector<route_view> routes() const;
  /// How often a route was added or has ended: as long as it stays, so do the routes.
  [[nodiscard]] std::uint64_t route_changes() const noexcept;

  /// Whether stop() has been called: who asks now had better ask another server next.
  [[nodiscard]] bool is_draining() const noexcept;

  /// Open connections, and requests answered since the start.
  [[nodiscard]] std::size_t connections() const noexcept;
  [[nodiscard]] std::uint64_t requests() const noexcept;

 private:
  template <class F>
  server& add(method which, std::string_view pattern, F handler, lifetime* owner) {
    return route(which, pattern, make_route_handler(std::move(handler)), owner);
  }
  server& add_around(middleware around, lifetime* owner, std::shared_ptr<const cors> policy);

  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace weft::http
