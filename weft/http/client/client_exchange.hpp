// One request, and the response to it: over a kept connection or a new one.
//
// Contract: internal to http. begin() waits for a connection, sends the request and reads the
// response's head; then read() gives the body, a piece at a time. A kept connection that ends
// before a byte has come in answer has very likely been closed by a server that never saw the
// request: if it is idempotent, it is sent again, once, on a new connection (RFC 9110 section
// 9.2.2, RFC 9112 section 9.3.1). The connection is kept if the response was read to its end and
// nothing stood behind it; else it is closed, with this at the latest. A server that answers before
// it has read the whole request is listened to, and sent no more. Lives in the task that asks; one
// shard.
//
//   auto asking = std::make_unique<client_exchange>(core, request, to, core.bounds);
//   if (auto begun = co_await asking->begin(); !begun) co_return ...;
//   for (;;) { auto piece = co_await asking->read(); if (!piece || piece->empty()) break; ... }
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weft/coro/frame_pool.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/body_decoding.hpp>
#include <weft/http/client/client_call.hpp>
#include <weft/http/client/client_core.hpp>
#include <weft/http/client/outgoing_request.hpp>
#include <weft/http/client/request_fault.hpp>
#include <weft/http/client/response_head.hpp>

namespace weft::http {

class client_exchange {
 public:
  template <class T>
  using outcome = client_call::outcome<T>;

  /// All of them outlive it.
  client_exchange(client_core& core, const outgoing_request& asked, const url_parts& to,
                  const limits& bounds) noexcept
      : core_{core}, asked_{asked}, to_{to}, bounds_{bounds} {}
  client_exchange(const client_exchange&) = delete;
  client_exchange& operator=(const client_exchange&) = delete;
  ~client_exchange() { leave(); }
  // Within a task's frame it would be more than the frame pool keeps.
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }

  // Its frame within that of who waits would be more than the frame pool keeps.
  [[nodiscard, gnu::noinline]] task<outcome<void>> begin();

  // Instead of begin(), for a request that is streamed.

  /// Sends the head.
  [[nodiscard]] task<outcome<void>> begin_upload();
  /// Of its body. errc::closed: the server has answered already.
  [[nodiscard]] task<outcome<void>> write(std::string_view text);
  /// The body has ended: reads the head of the response.
  [[nodiscard]] task<outcome<void>> finish_upload();

  /// Until the first read().
  [[nodiscard]] const response_head& head() const noexcept { return call_->head(); }
  /// What has come: the head, and perhaps more. Until the first read().
  [[nodiscard]] std::string_view text() const noexcept { return call_->text(); }

  /// The next piece of the body, until the next read(); empty: its end.
  [[nodiscard]] task<outcome<std::string_view>> read() {
    return decoding_ ? read_decoded() : call_->read();
  }
  /// All of it: where it has come, or, if it came in pieces, in `room`, which is empty.
  [[nodiscard]] task<outcome<std::string_view>> read_all(std::string& room);

  /// Gives the connection back, or closes it. What read() gave last stays.
  void leave() noexcept;

 private:
  [[nodiscard]] bool has_usable_connection() const noexcept;
  task<outcome<void>> lease_connection();
  task<outcome<void>> connect();
  task<outcome<void>> connect_again();
  [[nodiscard]] bool speaks_http2(const net::tcp_stream& stream) const;
  void begin_call();
  task<outcome<void>> ask();
  task<outcome<void>> read_response();
  [[nodiscard]] outcome<void> begin_decoding();
  task<outcome<std::string_view>> read_decoded();
  [[nodiscard]] bool may_ask_again(const request_fault& why) const noexcept;

  client_core& core_;
  const outgoing_request& asked_;
  const url_parts& to_;
  const limits& bounds_;
  origin_pool::lease lease_;
  std::unique_ptr<client_call> call_;        // over its connection
  std::unique_ptr<body_decoding> decoding_;  // where the body is coded
  std::string_view coded_;                   // read and not yet decoded
  bool has_coded_ = false;                   // anything of it has come
  std::uint64_t written_ = 0;                // of a body that is streamed
  std::optional<error> cut_short_;           // it was, for that
  bool is_kept_ = false;                     // the connection has served before
};

}  // namespace weft::http
