// What a UDP socket keeps while it is open, and a little longer: what has come, the queue of what
// is to go, those who wait.
//
// Contract: internal to net. Owned by the udp_socket until that is dropped, then by itself until
// the last operation has answered. A datagram that the kernel refuses is dropped, and the next
// sender is told. Memory is taken from the shard's pools: none is allocated once those are warm.
#pragma once

#include <sys/uio.h>

#include <array>
#include <coroutine>
#include <cstddef>
#include <span>
#include <string_view>

#include <weft/base/intrusive_list.hpp>
#include <weft/coro/environment.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/operation.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/net/stream_state.hpp>

namespace weft::net::detail {

class udp_state final : private flushable {
 public:
  /// Datagrams received, and sent, at once.
  static constexpr std::size_t receive_most = 16;
  static constexpr std::size_t send_most = 64;

  udp_state(event_loop& loop, descriptor& socket) noexcept;
  udp_state(const udp_state&) = delete;
  udp_state& operator=(const udp_state&) = delete;

  [[nodiscard]] event_loop& loop() const noexcept { return loop_; }
  [[nodiscard]] descriptor& socket() const noexcept { return *send_.target; }

  /// Queues a datagram; to the connected peer if `to` is nullptr. What is wrong with it is told by
  /// the next outcome().
  void queue(const endpoint* to, std::string_view bytes);
  void queue(const endpoint* to, buffer_ref&& bytes);
  /// Sends what is queued, as far as the kernel takes it now.
  void pump() noexcept;

  [[nodiscard]] bool may_send(std::size_t at_most) const noexcept { return queued_ <= at_most; }
  /// Why datagrams were dropped since the last time this was asked.
  [[nodiscard]] result<void> outcome() noexcept;
  /// True: suspended until the queue is short enough.
  [[nodiscard]] bool wait(socket_waiter& waiter, std::coroutine_handle<> waiting,
                          const environment& env) noexcept;

  /// Where a receive puts what it gets; what the last one got is given back.
  [[nodiscard]] std::span<datagram> make_room() noexcept;
  void receive_begins(receive_datagrams_operation& op) noexcept { receiving_ = &op; }
  /// False: the socket is gone, and this with it.
  [[nodiscard]] bool receive_ended() noexcept;
  [[nodiscard]] std::span<datagram> received(std::size_t count) noexcept {
    return std::span{received_}.first(count);
  }

  /// The udp_socket has gone: send what the kernel takes now, close, end.
  void abandon() noexcept;

 private:
  struct owned_send : send_datagrams_operation {
    using send_datagrams_operation::send_datagrams_operation;
    udp_state* owner = nullptr;
  };
  struct outgoing;

  ~udp_state();
  static void on_sent(operation& op) noexcept;
  static void on_flush(flushable& self) noexcept { static_cast<udp_state&>(self).pump(); }
  [[nodiscard]] bool start_send() noexcept;
  void finish_send() noexcept;
  void drop(std::size_t count) noexcept;
  void wake_waiters() noexcept;
  bool end_if_abandoned() noexcept;

  event_loop& loop_;
  owned_send send_;
  outgoing* first_ = nullptr;
  outgoing* last_ = nullptr;
  std::size_t queued_ = 0;
  result<void> failure_;
  intrusive_list<socket_waiter, &socket_waiter::in_line> waiters_;
  receive_datagrams_operation* receiving_ = nullptr;
  bool abandoned_ = false;
  std::array<datagram, receive_most> received_;
  std::array<mmsghdr, send_most> messages_;  // of the send in flight
  std::array<iovec, send_most> parts_;
};

}  // namespace weft::net::detail
