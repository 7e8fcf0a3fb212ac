// A WebSocket: messages both ways, in coroutines (RFC 6455).
//
// Contract: a server's handler is lent one, a client owns one. All on one shard. read() gives the
// next message, whole, however it was cut; its bytes stay until the next read(), and one task reads
// at a time. Pings are answered, and the end is noticed, while nobody reads, as long as no message
// waits; one message is received ahead, and no more, so that who sends faster than is read has to
// wait. read() ends with errc::closed when the other end has closed in good order, or this one;
// with errc::reset when the connection broke, was silent for too long or was cut,
// errc::protocol_error or errc::limit_exceeded when what came was wrong or too long: the other end
// has been told why.
//
// send() may be called by any task, also while others wait in it: it returns once the message is
// queued, behind at most 64 KiB, so that a slow reader slows those who send to it. One that fails
// has queued nothing: errc::closed, errc::cancelled, errc::timed_out; errc::invalid_argument for
// text that is no UTF-8. What was cancelled or timed out leaves the WebSocket usable, in reading as
// in sending: these two are the task's own, and never how a WebSocket has ended. Text that is sent
// is borrowed until send() has returned, so send() is awaited in the expression that calls it.
// close() waits until the other end has closed too, for websocket_limits::close_timeout at most;
// messages that still come are dropped. A short message that is read, or sent, allocates nothing.
//
//   http.websocket("/echo", [](http::websocket& socket) -> weft::task<void> {
//     while (auto message = co_await socket.read())
//       if (!co_await socket.send(*message)) co_return;
//   });
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/borrowed_text.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/owned_text.hpp>
#include <weft/coro/task.hpp>
#include <weft/coro/waiter.hpp>
#include <weft/http/websocket/close_code.hpp>
#include <weft/http/websocket/websocket_message.hpp>
#include <weft/net/endpoint.hpp>

namespace weft::net {
struct tls_info;
}

namespace weft::http {

class subscription;

namespace ws {
class session;

/// Awaitable, gives result<websocket_message>.
class [[nodiscard]] message_wait final : public waiter {
 public:
  explicit message_wait(session& of) noexcept : session_{of} {}
  [[nodiscard]] result<websocket_message> await_resume() noexcept;

 private:
  friend waiter;
  [[nodiscard]] wait_line& line() noexcept;
  [[nodiscard]] bool take() noexcept;
  session& session_;
};

/// Awaitable, gives result<void>. Waits, in a coroutine of its own, only where there is no room.
class [[nodiscard]] message_send {
 public:
  message_send(session& to, websocket_message what) noexcept : session_{to}, what_{what} {}
  message_send(const message_send&) = delete;
  message_send& operator=(const message_send&) = delete;

  bool await_ready();
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> waiting) {
    later_.emplace(send_later());
    awaited_.emplace(std::move(*later_).operator co_await());
    return awaited_->await_suspend(waiting);
  }
  [[nodiscard]] result<void> await_resume() const {
    return awaited_ ? awaited_->await_resume() : outcome_;
  }

 private:
  [[nodiscard]] task<result<void>> send_later();

  session& session_;
  websocket_message what_;
  result<void> outcome_;
  std::optional<task<result<void>>> later_;
  std::optional<weft::detail::task_awaiter<result<void>>> awaited_;
};

}  // namespace ws

/// How a WebSocket has ended: what the other end said, or else this one.
struct websocket_end {
  close_code code = close_code::abnormal;
  std::string_view reason{};
};

class websocket {
 public:
  /// Framework use: takes a session over.
  explicit websocket(ws::session& of) noexcept : session_{&of} {}
  websocket(websocket&& other) noexcept : session_{std::exchange(other.session_, nullptr)} {}
  websocket& operator=(websocket&& other) noexcept {
    std::swap(session_, other.session_);
    return *this;
  }
  /// Closes it, if that has not been done, in the keeping of the loop.
  ~websocket();

  [[nodiscard]] ws::message_wait read() noexcept { return ws::message_wait{*session_}; }

  /// Text, which must be UTF-8.
  [[nodiscard]] ws::message_send send(borrowed_text text WEFT_LIFETIME_BOUND) noexcept {
    return {*session_, {message_kind::text, text.view()}};
  }
  [[nodiscard]] ws::message_send send(const char* text WEFT_LIFETIME_BOUND) noexcept {
    return send(borrowed_text{text});
  }
  [[nodiscard]] ws::message_send send(
      std::span<const std::byte> bytes WEFT_LIFETIME_BOUND) noexcept {
    return {*session_,
            {message_kind::binary, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}}};
  }
  [[nodiscard]] ws::message_send send_binary(borrowed_text bytes WEFT_LIFETIME_BOUND) noexcept {
    return {*session_, {message_kind::binary, bytes.view()}};
  }
  [[nodiscard]] ws::message_send send(
      const websocket_message& message WEFT_LIFETIME_BOUND) noexcept {
    return {*session_, message};
  }
  /// A message in fragments, for what is made as it goes out; messages of others wait until the
  /// last of them. Neither compressed nor checked. One that fails has queued nothing: the same part
  /// may be tried again.
  [[nodiscard]] borrowing_task<result<void>> send_part(websocket_message part WEFT_LIFETIME_BOUND,
                                                       bool is_last);

  /// `reason`: at most 123 bytes of UTF-8. errc::invalid_argument: that, or a code that must not be
  /// sent; errc::reset: the other end has not closed in good order, or not in time.
  [[nodiscard]] task<result<void>> close(close_code code = close_code::normal,
                                         owned_text reason = {});

  /// Whether messages can be sent.
  [[nodiscard]] bool is_open() const noexcept;
  /// Once read() has ended.
  [[nodiscard]] websocket_end end() const noexcept;
  /// The one that was agreed on; empty: none.
  [[nodiscard]] std::string_view subprotocol() const noexcept;
  [[nodiscard]] result<net::endpoint> peer_endpoint() const;
  /// nullptr: it is not secured.
  [[nodiscard]] const net::tls_info* tls() const noexcept;

 private:
  friend class subscription;
  ws::session* session_;
};

}  // namespace weft::http
