// What a TCP stream keeps while it is open, and a little longer: its write queue, the send in
// flight, those who wait.
//
// Contract: internal to net. Made by a listener or a connect, owned by the tcp_stream until that is
// dropped or closed, then by itself until the last operation has answered: it sends what is queued,
// for linger_time as a rule, closes the descriptor and ends. One send is in flight at a time; a
// failed send fails all later ones with the same error. An idle stream has no `outgoing_`.
// Of a stream that is secured this is a part of a tls_state, and `queue_` has what is not sealed
// yet.
#pragma once

#include <coroutine>
#include <cstdint>
#include <new>

#include <weft/base/intrusive_list.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/operation.hpp>
#include <weft/loop/slow_peer.hpp>
#include <weft/net/write_queue.hpp>

namespace weft::net::detail {

class tls_state;

/// Who waits for the queue to shrink to `at_most` bytes; or, of a secured stream, for input.
class socket_waiter : public runnable, public stop_registration, public timer {
 public:
  explicit socket_waiter(std::size_t most = 0) noexcept
      : runnable{&on_run}, stop_registration{&on_stop}, timer{deadline_kind}, at_most{most} {}

  void wake(result<void> how) noexcept;

  std::size_t at_most;
  event_loop* loop = nullptr;
  std::coroutine_handle<> waiting;
  result<void> outcome;
  list_hook in_line;

 private:
  static void on_run(runnable& self) noexcept {
    weft::detail::resume(static_cast<socket_waiter&>(self).waiting);
  }
  static void on_stop(stop_registration& self) noexcept;
  static void on_deadline(timer& self) noexcept;
  static std::coroutine_handle<> owner_of(const timer& self) noexcept {
    return static_cast<const socket_waiter&>(self).waiting;
  }
  static constexpr timer_kind deadline_kind{
      .on_expiry = &on_deadline, .name = "deadline of a wait for a socket", .owner = &owner_of};
};

using socket_waiters = intrusive_list<socket_waiter, &socket_waiter::in_line>;

class stream_state : private flushable {
 public:
  static constexpr std::size_t high_watermark = 64 * 1024;
  static constexpr std::size_t low_watermark = 16 * 1024;
  static constexpr duration linger_time = std::chrono::seconds{5};

  stream_state(event_loop& loop, descriptor& socket) noexcept;
  stream_state(const stream_state&) = delete;
  stream_state& operator=(const stream_state&) = delete;
  static void* operator new(std::size_t size_bytes);
  static void operator delete(void* memory, std::size_t size_bytes) noexcept;

  [[nodiscard]] event_loop& loop() const noexcept { return loop_; }
  [[nodiscard]] descriptor& socket() const noexcept { return socket_; }
  [[nodiscard]] write_queue& queue() noexcept { return queue_; }

  /// Sends what is queued, as far as the kernel takes it now.
  [[gnu::always_inline]] void pump() noexcept {
    while (!queue_.empty()) {
      if (is_secured_ || sending()) [[unlikely]] {
        pump_busy();
        return;
      }
      if (!start_send()) return;
      finish_send();
    }
    // There is nothing left to send later.
    if (flushable::hook.is_linked()) flushable::hook.unlink();
  }
  /// Sends it at the end of the turn, together with what is queued until then.
  void pump_later() noexcept { loop_.flush_later(*this); }

  /// Whether a writer may go on at once: at most `at_most` bytes are queued, or sending has failed.
  [[nodiscard]] bool may_write(std::size_t at_most) const noexcept {
    return queue_.size() <= at_most || failure_.os_errno() != 0;
  }
  [[nodiscard]] result<void> write_outcome() const noexcept {
    if (failure_.os_errno() != 0) return fail(failure_);
    return {};
  }
  /// True: suspended until the queue is short enough.
  [[nodiscard]] bool wait(socket_waiter& waiter, std::coroutine_handle<> waiting,
                          const environment& env) noexcept;

  /// Whether what is read and written goes through TLS; then this is a tls_state.
  [[nodiscard]] bool is_secured() const noexcept { return is_secured_; }
  [[nodiscard]] tls_state& secured() noexcept;
  [[nodiscard]] const tls_state& secured() const noexcept;

  /// A read that waits is known here, so that it can be ended with the stream.
  void read_begins(receive_operation& read) noexcept { reading_ = &read; }
  void read_ended() noexcept {
    reading_ = nullptr;
    if (abandoned_) [[unlikely]]
      end_if_abandoned();
  }
  [[nodiscard]] bool reading() const noexcept { return reading_ != nullptr; }
  /// What the end of the input means. The kernel tells of a reset once: if it was told to the
  /// sender, the reader is given an end that is none.
  [[nodiscard]] error end_of_input() const noexcept {
    return failure_.os_errno() != 0 ? failure_ : error{errc::closed};
  }

  /// Whether a read would be, or is about to be, answered with bytes.
  [[nodiscard]] bool has_input() const noexcept;
  /// Tells the peer that no more will come, once what is queued has been sent.
  void end_output() noexcept;

  /// Whether the kernel refers to the queue now, or to what has been sealed of it.
  [[nodiscard]] bool sending() const noexcept { return outgoing_ != nullptr && outgoing_->pending; }
  /// Stops sending: what is queued is dropped once the kernel has let go of it.
  void give_up_sending() noexcept;
  /// That, for those who still have the stream: nobody waits to write any more.
  void give_up_output() noexcept;

  /// The tcp_stream has gone: send for `longest` at most what is queued, close, end.
  void abandon(duration longest = linger_time) noexcept;
  /// The descriptor has been closed by whoever had the stream: end now.
  void closed() noexcept;

  /// Bytes that a read into the caller's memory left over.
  buffer_ref unread;

 protected:
  ~stream_state() = default;

  /// True: suspended, in `line`, until it is woken, stopped or too late.
  [[nodiscard]] bool stand_in(socket_waiters& line, socket_waiter& waiter,
                              std::coroutine_handle<> waiting, const environment& env) noexcept;
  [[gnu::noinline]] void wake_waiters() noexcept;
  /// All later sends fail like this.
  void fail_sending(error why) noexcept;
  void end_if_abandoned() noexcept;

  event_loop& loop_;

 private:
  friend tls_state;

  /// What is needed while a send is under way or waited for, and else by nobody: most streams are
  /// idle, and there are many.
  struct outgoing : send_operation, timer, slow_peer {
    explicit outgoing(stream_state& of) noexcept;
    static void* operator new(std::size_t size_bytes, const std::nothrow_t&) noexcept;
    static void operator delete(void* memory, std::size_t size_bytes) noexcept;

    stream_state& owner;
    socket_waiters waiters;

    static void on_linger_over(timer& self) noexcept;
    static constexpr timer_kind linger_kind{.on_expiry = &on_linger_over,
                                            .name = "time that a dropped stream has left to send"};
    // As a slow peer, while the kernel has no room for what is sent.
    static std::size_t held_bytes(slow_peer& self) noexcept;
    static void drop(slow_peer& self) noexcept;
    static constexpr slow_peer_kind slow_kind{.held_bytes = &held_bytes, .drop = &drop};
  };
  struct gathered;

  static void on_sent(operation& op) noexcept;
  static void on_flush(flushable& self) noexcept { static_cast<stream_state&>(self).pump(); }
  /// False: there is no memory for `outgoing_`, and sending has failed.
  [[nodiscard]] bool has_outgoing() noexcept { return outgoing_ != nullptr || make_outgoing(); }
  [[nodiscard]] bool make_outgoing() noexcept;
  void release_outgoing() noexcept;
  bool start_send() noexcept;
  /// The send has no answer yet, and then has one.
  [[gnu::noinline]] void note_stalled() noexcept;
  void note_progress() noexcept;
  /// Somebody else needs its memory more: neither sends nor receives any more.
  void drop() noexcept;
  [[gnu::noinline]] void gather() noexcept;
  [[gnu::noinline]] void lose_queue() noexcept;
  void finish_send() noexcept;
  [[gnu::noinline]] void forget_gathered() noexcept;
  [[gnu::noinline]] void pump_busy() noexcept;

  descriptor& socket_;
  write_queue queue_;
  outgoing* outgoing_ = nullptr;
  error failure_{errc::system};  // stands when its errno does
  receive_operation* reading_ = nullptr;
  bool abandoned_ = false;
  bool output_ends_ = false;  // once the queue is empty
  bool is_secured_ = false;
  bool is_stalled_ = false;  // `outgoing_` stands in the line of slow peers
};

static_assert(sizeof(stream_state) <= 128, "every idle connection has one");

}  // namespace weft::net::detail
