// What a secured stream keeps beside what every stream keeps: OpenSSL's part, what has come for it,
// and what it has to say.
//
// Problem: whoever has a tcp_stream is not to know, nor to pay for, what becomes of its bytes; and
// OpenSSL is not to know of sockets, so that every backend will do. Contract: internal to net.
// OpenSSL reads from `input_` and writes into `sealed_`, both in memory: it never waits. A receive
// is under way only while somebody reads, and then for longer than they do. `queue_` is sealed in
// pieces, each when the one before has gone, and counts as sent when its sealed bytes are. Once the
// certificates of a client have ended nothing of it is read and nothing is sent to it. What all
// this takes counts against the budget of the shard (connection_memory.hpp), as measured; a
// connection that was accepted is in line to be dropped while its client is waited for.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <coroutine>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <weft/base/result.hpp>
#include <weft/coro/timer.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/net/plain_messages.hpp>
#include <weft/net/stream_state.hpp>
#include <weft/net/tls_info.hpp>
#include <weft/net/tls_setup.hpp>
#include <weft/net/tls_validity.hpp>
#include <weft/net/write_queue.hpp>

namespace weft::net::detail {

class tls_state final : public stream_state {
 public:
  /// In place of `plain`, which is no more, and whose socket and unread bytes this takes. Throws
  /// std::bad_alloc, with `plain` as it was.
  /// `memory`: own_bytes, and perhaps those of the handshake.
  tls_state(stream_state& plain, std::shared_ptr<const tls_setup> setup, memory_reservation memory);
  ~tls_state();
  static void* operator new(std::size_t size_bytes);
  static void operator delete(void* memory, std::size_t size_bytes) noexcept;

  [[nodiscard]] const tls_info& info() const noexcept { return info_; }
  [[nodiscard]] ssl_st& session() noexcept { return *session_; }

  // What a connection takes, with OpenSSL 3.0, which takes the most.
  /// After its handshake, idle: 14 to 20 KiB.
  static constexpr std::size_t own_bytes = std::size_t{20} * 1024;
  /// During its handshake, beside: 71 KiB in all before the first message is whole, 48 KiB then.
  static constexpr std::size_t handshake_bytes = std::size_t{56} * 1024;
  /// That, for the certificates of a client.
  static constexpr std::size_t certificates_bytes = 2 * tls_setup::certificates_most_bytes;
  /// While it keeps a record, or a part of one.
  static constexpr std::size_t kept_record_bytes = std::size_t{17} * 1024;

  // Shaking hands.

  /// From now on this may be dropped while its client is waited for.
  void note_accepted() noexcept;
  /// This is not dropped as silent while `work` is not 0. Until abandoned().
  void stay_while(const std::uint32_t& work) noexcept { work_ = &work; }
  /// errc::limit_exceeded: there is no room for a handshake; errc::reset: this has been dropped.
  [[nodiscard]] result<void> take_handshake_memory() noexcept;

  enum class progress : std::uint8_t { done, wants_input, failed };
  /// With what has come so far.
  [[nodiscard]] progress shake_hands() noexcept;
  /// Why that failed, as OpenSSL has it.
  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }
  /// Awaitable: until there is something for shake_hands().
  class input_wait;
  [[nodiscard]] input_wait input() noexcept;

  // For stream_state, whose functions of the same meaning come here.

  /// False: `into` has been answered, or read_failure() says why there is nothing.
  [[nodiscard]] bool read(receive_operation& into, std::coroutine_handle<> waiting,
                          const environment& env) noexcept;
  [[nodiscard]] error read_failure() const noexcept;
  /// As read(), for who waits without a coroutine: `into` answers once there is something.
  [[nodiscard]] bool begin_read(receive_operation& into) noexcept;
  /// That, for who does not wait: false if there is nothing yet.
  [[nodiscard]] bool read_now(receive_operation& into) noexcept;
  void cancel_read(error why = errc::cancelled) noexcept;
  void seal_and_send() noexcept;
  /// What was under way has been answered.
  void sent() noexcept;
  void give_up_sending() noexcept;
  [[nodiscard]] bool has_input() const noexcept;
  /// Tells the other side, behind what is queued, that this was all; then perhaps the kernel.
  void say_goodbye(bool to_kernel_too) noexcept;
  void abandoned() noexcept;
  /// True: nothing is received any more. False: it will end, and so will this.
  [[nodiscard]] bool stops_receiving() noexcept;

  // For OpenSSL.

  /// As many of the bytes that have come as fit.
  [[nodiscard]] std::size_t take_input(std::span<char> into) noexcept;
  void add_sealed(std::string_view bytes);

 private:
  struct owned_receive : receive_operation {
    using receive_operation::receive_operation;
    tls_state* owner = nullptr;
  };

  struct owned_timer : weft::timer {
    explicit owned_timer(tls_state& of) noexcept : timer{kind_of_all}, owner{of} {}
    tls_state& owner;
    static void on_expiry(timer& self) noexcept { static_cast<owned_timer&>(self).owner.go_on(); }
    static constexpr timer_kind kind_of_all{.on_expiry = &on_expiry,
                                            .name = "look for a buffer to open a secured text in"};
  };

  /// Ends the connection with the certificates of the other side.
  struct certificate_watch : weft::timer {
    explicit certificate_watch(tls_state& of) noexcept : timer{kind_of_all}, owner{of} {}
    ~certificate_watch() { owner.loop_.timers().disarm(*this); }
    void look() noexcept;
    tls_state& owner;
    static void on_expiry(timer& self) noexcept { static_cast<certificate_watch&>(self).look(); }
    static constexpr timer_kind kind_of_all{.on_expiry = &on_expiry,
                                            .name = "end of a peer's certificates"};
  };

  enum class line : std::uint8_t { none, unfinished, silent };

  /// In line to be dropped, as one of many.
  struct line_place : slow_peer {
    explicit line_place(tls_state& of) noexcept : owner{of} {}
    tls_state& owner;
    static std::size_t held_bytes(slow_peer& self) noexcept {
      const tls_state& of = static_cast<line_place&>(self).owner;
      const bool is_worked_for = of.work_ != nullptr && *of.work_ != 0;
      return of.line_ == line::silent && is_worked_for ? 0 : of.memory_.bytes();
    }
    static void drop(slow_peer& self) noexcept { static_cast<line_place&>(self).owner.drop(); }
    static constexpr slow_peer_kind kind_of_all{.held_bytes = &held_bytes, .drop = &drop};
  };
  void stand_in_line() noexcept;
  void stand_behind() noexcept;
  void leave_line() noexcept;
  void note_record(bool is_kept) noexcept;
  void note_shaken() noexcept;
  void drop() noexcept;

  static void on_received(operation& op) noexcept;
  [[nodiscard]] bool input_ended() const noexcept { return input_end_ <= 0; }
  [[nodiscard]] error input_failure() const noexcept;
  /// True: something has come, or the end. False: it will.
  [[nodiscard]] bool receive() noexcept;
  void note_input() noexcept;
  void go_on() noexcept;
  [[nodiscard]] bool somebody_reads() const noexcept {
    return is_called_back_ || !readers_.empty();
  }
  void wake_reader() noexcept;
  /// True: `into` has been answered, or read_failure_ says why there is nothing. False: go_on()
  /// tries again once there is more.
  [[nodiscard]] bool open(receive_operation& into) noexcept;
  enum class opened : std::uint8_t { answer, wants_input, wants_room };
  [[nodiscard]] opened open_into(receive_operation& into) noexcept;
  [[nodiscard]] bool has_to_send() noexcept;
  void seal() noexcept;
  [[nodiscard]] bool seal(std::string_view text) noexcept;
  [[nodiscard]] bool start_send() noexcept;
  void finish_send() noexcept;
  void break_off() noexcept;
  void note_info();
  void note_complaint();
  void watch_certificates();
  void end_with_certificates() noexcept;

  memory_reservation memory_;
  std::shared_ptr<const tls_setup> setup_;
  tls_validity validity_;  // before the session, which looks at it
  std::unique_ptr<ssl_st, free_tls> session_;
  owned_receive receive_;
  write_queue sealed_;
  std::size_t sealed_bytes_ = 0;  // of queue_: those that sealed_ stands for
  buffer_ref input_;
  int input_end_ = 1;  // 0: the other side has ended; negative: an errno
  socket_waiters readers_;
  std::optional<socket_waiter> reader_;  // the last one to wait
  bool is_called_back_ = false;          // reading_ waits without one
  owned_timer room_{*this};              // armed while no buffer is free to open a text in
  error read_failure_{errc::closed};
  msghdr message_{};
  std::array<iovec, 16> parts_{};
  std::unique_ptr<certificate_watch> certificate_watch_;
  tls_info info_;
  std::string complaint_;
  line_place place_{*this};
  plain_messages messages_;
  const std::uint32_t* work_ = nullptr;  // how much is done for the other end, if that is known
  line line_ = line::none;
  bool was_accepted_ = false;
  bool has_begun_ = false;     // to shake hands, with memory for it
  bool keeps_record_ = false;  // OpenSSL does, or a part of one
  bool is_shaken_ = false;
  bool is_broken_ = false;  // OpenSSL has nothing more to say
  bool has_outlived_certificates_ = false;
  bool goodbye_is_due_ = false;
  bool goodbye_is_said_ = false;
  bool kernel_is_told_too_ = false;
  unsigned drained_ = 0;  // receives whose bytes nobody wants
};

class [[nodiscard]] tls_state::input_wait {
 public:
  explicit input_wait(tls_state& of) noexcept : state_{of} {}
  bool await_ready() const noexcept { return state_.input_ended() || !state_.input_.empty(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    return begin(waiting, *waiting.promise().env);
  }
  [[nodiscard]] result<void> await_resume() const noexcept;

 private:
  bool begin(std::coroutine_handle<> waiting, const environment& env) noexcept;
  tls_state& state_;
};

inline tls_state::input_wait tls_state::input() noexcept { return input_wait{*this}; }

}  // namespace weft::net::detail
