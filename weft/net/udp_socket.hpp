// Datagrams in and out, many by one system call.
//
// Contract: move-only; one receiver at a time, any number of senders, all on the shard that made
// it. Every wait ends with errc::cancelled when its task is asked to stop and errc::timed_out at
// its deadline, and leaves the socket usable.
//   receive() gives what has come, at least one datagram and at most 16. Bytes are in slots of the
//             shard's pool: move them out, or they are given back at the next receive. Of a longer
//             datagram than datagram_most_bytes the rest is lost, which truncated() tells. To one
//             who is connected, errc::refused says that nobody listens there; a later receive goes
//             on.
//   send()    owns what it is given or copies it, and queues it: it leaves at the end of the turn
//             with what else was queued, or when 64 are, at once. Waits when more than that are
//             queued, so that a slow network slows its sender. What the kernel refuses to send is
//             dropped; the next send or flush says why. A text longer than a slot is
//             errc::limit_exceeded.
//   flush()   sends now, and returns when all has been handed to the kernel.
// Dropping the socket ends a wait of another task with errc::cancelled; what the kernel does not
// take at that moment is lost, as datagrams may be. No allocation once the shard's pools are warm.
// IPv4 and IPv6; a Unix datagram socket can be connected, not bound.
//
//   while (auto batch = co_await socket.receive())
//     for (datagram& d : *batch)
//       if (!co_await socket.send(net::endpoint{d.peer}, std::move(d.bytes))) co_return;
#pragma once

#include <coroutine>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/loop/wait.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/net/udp_state.hpp>

namespace weft::net {

/// Awaitable: the next datagrams, which stay in place until the next receive or the socket's end.
class [[nodiscard]] udp_receive : public operation_awaiter<receive_datagrams_operation> {
 public:
  explicit udp_receive(detail::udp_state& socket) noexcept
      : operation_awaiter{socket.loop(), &socket.socket(), socket.make_room()}, socket_{socket} {}

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    socket_.receive_begins(operation_);
    return operation_awaiter::await_suspend(waiting);
  }
  [[nodiscard]] result<std::span<datagram>> await_resume() noexcept {
    if (!socket_.receive_ended()) return fail(errc::cancelled);
    if (operation_.result < 0) return fail(operation_.failure());
    return socket_.received(static_cast<std::size_t>(operation_.result));
  }

 private:
  detail::udp_state& socket_;
};

/// Awaitable: until at most so many datagrams are queued.
class [[nodiscard]] udp_send {
 public:
  udp_send(detail::udp_state& socket, std::size_t at_most) noexcept
      : socket_{socket}, waiter_{at_most} {}
  udp_send(const udp_send&) = delete;
  udp_send& operator=(const udp_send&) = delete;

  bool await_ready() noexcept {
    if (!socket_.may_send(waiter_.at_most)) return false;
    waiter_.outcome = socket_.outcome();
    return true;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    return socket_.wait(waiter_, waiting, *waiting.promise().env);
  }
  [[nodiscard]] result<void> await_resume() const noexcept { return waiter_.outcome; }

 private:
  detail::udp_state& socket_;
  detail::socket_waiter waiter_;
};

class udp_socket {
 public:
  static constexpr std::size_t receive_most = detail::udp_state::receive_most;
  static constexpr std::size_t send_most = detail::udp_state::send_most;

  /// A socket at `where`; port 0 lets the system choose one. errc::address_in_use: another has it.
  /// For an address that several shards share: address_book::bind_datagrams().
  [[nodiscard]] static result<udp_socket> bind(event_loop& loop, const endpoint& where,
                                               address_sharing sharing = address_sharing::none);
  /// A socket that exchanges datagrams with `peer` alone.
  [[nodiscard]] static result<udp_socket> connect(event_loop& loop, const endpoint& peer);
  /// A socket at an address and a port of the system's choice: for who asks first.
  [[nodiscard]] static result<udp_socket> open(event_loop& loop, int family);

  udp_socket(udp_socket&& other) noexcept : state_{std::exchange(other.state_, nullptr)} {}
  udp_socket& operator=(udp_socket&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~udp_socket() {
    if (state_ != nullptr) state_->abandon();
  }

  [[nodiscard]] udp_receive receive() noexcept { return udp_receive{*state_}; }

  [[nodiscard]] udp_send send(const endpoint& to, buffer_ref&& bytes) {
    return queue(&to, std::move(bytes));
  }
  [[nodiscard]] udp_send send(const endpoint& to, std::string_view bytes) {
    return queue(&to, bytes);
  }
  /// To the peer of connect().
  [[nodiscard]] udp_send send(buffer_ref&& bytes) { return queue(nullptr, std::move(bytes)); }
  [[nodiscard]] udp_send send(std::string_view bytes) { return queue(nullptr, bytes); }
  [[nodiscard]] udp_send flush() noexcept {
    state_->pump();
    return {*state_, 0};
  }

  [[nodiscard]] result<endpoint> local_endpoint() const;

 private:
  udp_socket(event_loop& loop, descriptor& socket) : state_{new detail::udp_state{loop, socket}} {}
  [[nodiscard]] static result<udp_socket> make(event_loop& loop, int family,
                                               const datagram_options& options);
  template <class Bytes>
  udp_send queue(const endpoint* to, Bytes&& bytes) {
    state_->queue(to, std::forward<Bytes>(bytes));
    return {*state_, send_most};
  }

  detail::udp_state* state_;
};

}  // namespace weft::net
