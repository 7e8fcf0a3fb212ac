// Accepting connections.
//
// Contract: bind() owns the address until close() or the listener's end; one task accepts at a
// time. Out of descriptors or memory, accept() pauses for a tenth of a second and tries again, for
// as long as its task may wait: connections queue in the kernel meanwhile, nothing spins, and the
// log says so once. TCP_NODELAY is set on what is accepted.
//
//   auto listener = net::tcp_listener::bind(loop, *net::endpoint::parse("127.0.0.1:8080"));
//   while (auto stream = co_await listener->accept()) workers.spawn(serve(std::move(*stream)));
#pragma once

#include <utility>

#include <weft/coro/task.hpp>
#include <weft/loop/backend.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/net/tcp_stream.hpp>

namespace weft::net {

class tcp_listener {
 public:
  [[nodiscard]] static result<tcp_listener> bind(event_loop& loop, const endpoint& where,
                                                 const listen_options& options = {});
  tcp_listener(tcp_listener&& other) noexcept
      : loop_{other.loop_},
        socket_{std::exchange(other.socket_, nullptr)},
        paused_{other.paused_} {}
  tcp_listener& operator=(tcp_listener&&) = delete;
  ~tcp_listener() { close(); }

  /// The next connection. errc::cancelled and errc::timed_out as every wait; other errors are the
  /// listener's end.
  [[nodiscard]] task<result<tcp_stream>> accept();

  /// Stops listening. No task may be in accept().
  void close() noexcept;

  [[nodiscard]] endpoint local_endpoint() const;

 private:
  tcp_listener(event_loop& loop, descriptor& socket) noexcept : loop_{&loop}, socket_{&socket} {}
  event_loop* loop_;
  descriptor* socket_;
  bool paused_ = false;
};

}  // namespace weft::net
