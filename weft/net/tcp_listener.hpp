// Accepting connections.
//
// Contract: bind() owns the address until close() or the listener's end; one task accepts at a
// time. Out of descriptors or memory, or when a policy forbids it, accept() pauses for a tenth of a
// second and tries again, for as long as its task may wait: connections queue in the kernel
// meanwhile, nothing spins, and the log says so, once a minute. Connections that died in the line
// are passed over. Closing resets who stands in line: refuse_newcomers() and accept_waiting() empty
// it before. TCP_NODELAY is set on what is accepted.
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
        quiet_until_{other.quiet_until_},
        lent_{other.lent_} {}
  tcp_listener& operator=(tcp_listener&&) = delete;
  ~tcp_listener() { close(); }

  /// The next connection. errc::cancelled and errc::timed_out as every wait; other errors mean that
  /// the socket no longer listens.
  [[nodiscard]] task<result<tcp_stream>> accept();

  /// Keeps newcomers out of the line. Who stands in it, or is shaking hands, is still accepted;
  /// others are refused, some only after close(). On a Unix socket that shards share, it is so for
  /// all. One that is lent is left as it is.
  void refuse_newcomers() noexcept {
    if (!lent_) loop_->io().refuse_newcomers(*socket_);
  }
  /// The next of those who stand in line now. errc::closed: nobody does, or they are left to who
  /// lent the socket. Waits for descriptors as accept(); any other error is its end.
  [[nodiscard]] task<result<tcp_stream>> accept_waiting();

  /// Stops listening. No task may be in accept().
  void close() noexcept;

  [[nodiscard]] endpoint local_endpoint() const;

 private:
  tcp_listener(event_loop& loop, descriptor& socket, bool lent) noexcept
      : loop_{&loop}, socket_{&socket}, lent_{lent} {}
  event_loop* loop_;
  descriptor* socket_;
  [[nodiscard]] task<result<tcp_stream>> accept_one(bool waits);
  time_point quiet_until_ = time_point::min();  // for the log: at the limit, it comes and goes
  bool lent_;
};

}  // namespace weft::net
