// One WebSocket's connection: receives, answers pings, keeps time, closes.
//
// Contract: internal to http. Belongs to whoever has the websocket until release(), then to itself
// until the connection is over, and then deletes itself. Receives by a call back, so that one that
// waits holds no buffer and no coroutine but its handler's. Receiving stops while a message waits
// to be read. Its timer is lazy. One shard.
//
//   session.begin(std::move(link));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weft/coro/mutex.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/waiter.hpp>
#include <weft/http/upgraded_link.hpp>
#include <weft/http/websocket/deflate_parameters.hpp>
#include <weft/http/websocket/message_deflate.hpp>
#include <weft/http/websocket/message_reader.hpp>
#include <weft/http/websocket/websocket.hpp>
#include <weft/http/websocket/websocket_counts.hpp>
#include <weft/http/websocket/websocket_options.hpp>
#include <weft/loop/lazy_timer.hpp>
#include <weft/net/stream_receiver.hpp>

namespace weft::http::ws {

class prepared_message;

/// What was agreed on in the handshake. The references outlive the session.
struct session_terms {
  role self;
  event_loop& loop;
  const websocket_limits& limits;
  websocket_counts& counts;
  std::optional<deflate_parameters> deflate{};
  std::string_view subprotocol{};
};

class session : private net::stream_receiver, private lazy_timer, private flushable {
 public:
  explicit session(const session_terms& terms);
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  virtual ~session();
  static void* operator new(std::size_t size_bytes);
  static void operator delete(void* memory, std::size_t size_bytes) noexcept;

  /// Over which nothing but frames comes from now on.
  void begin(upgraded_link link) noexcept;

  // For the websocket.

  /// What was read last is used no more. True: there is a message, or the end.
  [[nodiscard]] bool look_for_message() noexcept;
  [[nodiscard]] result<websocket_message> take_message() noexcept;
  [[nodiscard]] wait_line& line() noexcept { return waiters_; }

  /// True: `outcome` has it. False: it must wait.
  [[nodiscard]] bool send_now(const websocket_message& what, result<void>& outcome);
  [[nodiscard]] task<result<void>> send_later(websocket_message what);
  [[nodiscard]] task<result<void>> send_part(websocket_message part, bool is_last);

  // For topics.

  /// Whether a message may be queued behind so much, before those who wait to send.
  [[nodiscard]] bool has_room(std::size_t queued_most) const noexcept;
  /// Where has_room().
  void append_prepared(prepared_message& message);

  // For both.

  [[nodiscard]] task<result<void>> close(close_code code, owned_text reason);
  /// Says goodbye, unless that has been said, without waiting.
  void start_close(close_code code, std::string_view reason) noexcept;
  /// Nobody has the websocket any more. May be the end of this.
  void release(close_code code) noexcept;
  /// Cuts the connection.
  void cut() noexcept { abort(errc::reset, {close_code::going_away, "cut"}); }

  [[nodiscard]] bool is_open() const noexcept { return phase_ == phase::open; }
  [[nodiscard]] websocket_end end() const noexcept;
  [[nodiscard]] std::string_view subprotocol() const noexcept { return subprotocol_; }
  [[nodiscard]] const upgraded_link& link() const noexcept { return link_; }
  [[nodiscard]] event_loop& loop() const noexcept { return loop_; }

 protected:
  /// All is over, and somebody has the websocket still: for long now.
  virtual void on_overstay() noexcept {}
  /// Nobody has the websocket, and nothing is left to do.
  virtual void on_over() noexcept = 0;
  void end_if_over() noexcept;

 private:
  enum class phase : std::uint8_t {
    open,
    closing,    // a close frame has been sent
    lingering,  // nothing more is said; the other end is to end the connection
    over
  };

  // session.cpp: what comes
  [[nodiscard]] bool receives() const noexcept;
  /// Receives and reads for as long as there is something, and somebody to give it to.
  void go_on() noexcept;
  static void on_received(net::stream_receiver& self) noexcept;
  static void on_turn_end(flushable& self) noexcept;
  /// As of a net::stream_receiver.
  [[nodiscard]] bool begin_read() noexcept;
  [[nodiscard]] result<buffer_ref> take_read() noexcept;
  void cancel_read() noexcept;
  void take_received(result<buffer_ref>&& bytes);
  void read_frames();
  void leave_input() noexcept;
  void keep_message();
  static void on_timeout(lazy_timer& self) noexcept;
  static constexpr lazy_timer::kind timeout_kind{&on_timeout, "timeout of a WebSocket"};
  void keep_alive();
  void note_life() noexcept;
  void look_at_output() noexcept;
  [[nodiscard]] time_point quiet_until() const noexcept;
  void set_next_look() noexcept;
  void lose(std::string_view why) noexcept;
  void set_after(duration most) noexcept { set(saturated_sum(loop_.now(), most)); }

  // session_send.cpp
  [[nodiscard]] error closed_reason() const noexcept;
  void append_message(const websocket_message& what);
  [[nodiscard]] bool is_better_shared(std::size_t size_bytes) const noexcept;
  void append_part(const websocket_message& part, bool is_last);
  void append_frame(frame_head head, std::string_view payload);
  void append_control(opcode kind, std::string_view payload);
  void answer_ping(std::string_view payload);
  [[nodiscard]] task<result<void>> make_room();

  // session_end.cpp
  class end_wait;
  void append_close(close_code code, std::string_view reason);
  void on_close_frame();
  void fail_connection(const frame_fault& why);
  void linger();
  void abort(error why, const close_reason& told) noexcept;
  void note_end(error why, const close_reason& told) noexcept;
  void discard() noexcept;

  struct ended {
    error why;  // neither cancelled nor timed_out: those are of a task, which may go on
    close_code code;
    std::string reason;
  };

  const websocket_limits& limits_;
  websocket_counts& counts_;
  upgraded_link link_;  // until it is over
  // Where messages refer to those before them; else all share those of the shard.
  std::unique_ptr<message_inflater> own_inflater_;
  std::unique_ptr<message_deflater> own_deflater_;
  message_deflater* deflater_ = nullptr;  // nullptr: what is sent is not compressed
  message_reader reader_;
  std::string_view subprotocol_;
  buffer_ref input_;             // received; its text is not yet read
  websocket_message ready_;      // where has_ready_
  message_memory ready_memory_;  // has that, if input_ has not
  message_memory lent_memory_;   // of the message that was read last
  wait_line waiters_;            // for a message, or the end
  mutex sending_;                // held between the fragments of a message
  std::optional<lock_guard> fragmenting_;
  std::unique_ptr<std::string> late_pong_;  // for a ping that came while too much was queued
  std::unique_ptr<ended> ended_;
  time_point quiet_since_{};  // nothing was heard, nor taken of what waits to be sent
  time_point taken_at_{};     // when a look last found that something was taken, or nothing waiting
  std::size_t queued_at_look_ = 0;     // at that look
  std::size_t queued_since_look_ = 0;  // bytes that were added
  std::size_t dropped_bytes_ = 0;      // while lingering
  std::uint32_t senders_ = 0;          // who waits for room
  std::size_t given_ = 0;              // to its reader, without a wait: see look_for_message()
  role self_;
  phase phase_ = phase::open;
  bool begun_ = false;
  bool is_receiving_ = false;
  bool has_ready_ = false;
  bool ready_is_in_input_ = false;
  bool lent_is_in_input_ = false;
  bool discards_ = false;  // nobody will read
  bool is_released_ = false;
  bool ping_is_out_ = false;
  bool wakes_reader_ = false;      // with the end of this turn
  bool parts_have_begun_ = false;  // where fragmenting_: the next part continues a message
};

}  // namespace weft::http::ws
