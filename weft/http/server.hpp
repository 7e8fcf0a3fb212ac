// An HTTP/1.1 server: routes, and the connections that are answered by them.
//
// Contract: a service; one a shard, listening on the address it shares with its siblings. Routes
// are added before start() or while it runs, on its shard; adding one that conflicts with another
// throws std::invalid_argument, which names both. What handlers may look like stands in
// handler.hpp. Requests of one connection are answered one at a time, in order, and the replies to
// pipelined ones leave together. stop() closes the listener, asks handlers to stop and waits for
// them.
//
//   explicit ping_api(http::server& http) {
//     http.post("/ping", [](ping p) { return p; });
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/handler.hpp>
#include <weft/http/limits.hpp>
#include <weft/http/method.hpp>
#include <weft/net/endpoint.hpp>

namespace weft {
class event_loop;
}

namespace weft::net {
class address_book;
}

namespace weft::http {

struct server_options {
  /// "127.0.0.1:8080", "[::]:80", ":8080" for all IPv4 addresses, "unix:/run/app.sock"; port 0 lets
  /// the system choose.
  std::string listen = "127.0.0.1:8080";
  /// Connections the kernel may hold ready before they are accepted.
  int backlog = 4096;
  http::limits limits{};
};

class server {
 public:
  using options = server_options;

  server(server_options options, event_loop& loop, net::address_book& addresses);
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server();

  template <class F>
  server& get(std::string_view pattern, F handler) {
    return route(method::get, pattern, make_handler(std::move(handler)));
  }
  template <class F>
  server& post(std::string_view pattern, F handler) {
    return route(method::post, pattern, make_handler(std::move(handler)));
  }
  template <class F>
  server& put(std::string_view pattern, F handler) {
    return route(method::put, pattern, make_handler(std::move(handler)));
  }
  template <class F>
  server& patch(std::string_view pattern, F handler) {
    return route(method::patch, pattern, make_handler(std::move(handler)));
  }
  template <class F>
  server& del(std::string_view pattern, F handler) {
    return route(method::delete_, pattern, make_handler(std::move(handler)));
  }
  server& route(method which, std::string_view pattern, handler answer);

  /// Listens. errc::address_in_use and errc::invalid_argument are logged with the address.
  [[nodiscard]] result<void> start();
  [[nodiscard]] task<result<void>> stop();

  /// Where it listens, from start() to stop().
  [[nodiscard]] net::endpoint local_endpoint() const;

  /// Open connections, and requests answered since the start.
  [[nodiscard]] std::size_t connections() const noexcept;
  [[nodiscard]] std::uint64_t requests() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace weft::http
