// One request on a connection, and the response to it, in one of the protocols.
//
// Contract: internal to http. A request goes out whole by send(), or piece by piece by
// begin_upload(), write() and end_upload(); then read_head(), and read() to the end of the body.
// What goes wrong on the way out shows when the response is read: a server that answers before it
// has heard all is listened to, and sent no more. Lives in the task that asks; one shard.
//
//   co_await call.send();
//   if (auto begun = co_await call.read_head(); !begun) co_return ...;
//   for (;;) { auto piece = co_await call.read(); if (!piece || piece->empty()) break; ... }
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/client/client_core.hpp>
#include <weft/http/client/outgoing_request.hpp>
#include <weft/http/client/request_fault.hpp>
#include <weft/http/client/response_head.hpp>
#include <weft/http/client/response_parser.hpp>

namespace weft::http {

class client_call {
 public:
  template <class T>
  using outcome = std::expected<T, request_fault>;

  /// All of them outlive it.
  client_call(client_core& core, const outgoing_request& asked, const url_parts& to,
              const limits& bounds) noexcept
      : core_{core}, asked_{asked}, to_{to}, bounds_{bounds} {}
  client_call(const client_call&) = delete;
  client_call& operator=(const client_call&) = delete;
  virtual ~client_call() = default;
  // Within a task's frame it would be more than the frame pool keeps.
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }

  [[nodiscard]] virtual task<void> send() = 0;

  /// Of a request that is streamed, its head.
  [[nodiscard]] virtual task<void> begin_upload() = 0;
  /// A piece of its body. errc::closed: the server has answered already.
  [[nodiscard]] virtual task<result<void>> write(std::string_view piece) = 0;
  virtual void end_upload() = 0;
  /// Whether something has come that nobody has read.
  [[nodiscard]] virtual bool is_answered() const noexcept = 0;

  [[nodiscard]] virtual task<outcome<void>> read_head() = 0;
  /// The next piece of the body as it was sent, until the next read(); empty: its end.
  [[nodiscard]] virtual task<outcome<std::string_view>> read() = 0;
  /// Whether all of the body has come and been given.
  [[nodiscard]] virtual bool is_complete() const noexcept = 0;

  /// Until the first read().
  [[nodiscard]] const response_head& head() const noexcept { return head_; }
  /// What has come: the head, and perhaps more. Until the first read().
  [[nodiscard]] virtual std::string_view text() const noexcept = 0;
  /// Whether it offers codings, of which the response may have some.
  [[nodiscard]] bool asks_for_codings() const noexcept {
    return core_.options.decompress && !asked_.says_codings;
  }
  /// Not a byte has come.
  [[nodiscard]] bool is_unheard() const noexcept { return received_ == 0; }

  /// The server has not begun to serve it, and says so.
  [[nodiscard]] virtual bool is_refused() const noexcept { return false; }

  /// The connection is no longer this one's. Whether it may serve another request.
  [[nodiscard]] virtual bool leave() noexcept = 0;

 protected:
  /// Parses what stands in text(). True: `head_` is that of the response. False: more must come, or
  /// what has come is to be consumed before: a response of 1xx.
  [[nodiscard]] outcome<bool> parse_head();
  [[nodiscard]] request_fault broken_off(error why, std::string_view where) const;
  [[nodiscard]] request_fault broken_off(error why, std::string_view cause,
                                         std::string_view where) const;
  [[nodiscard]] request_fault malformed(const protocol_fault& why, bool is_too_large) const;

  client_core& core_;
  const outgoing_request& asked_;
  const url_parts& to_;
  const limits& bounds_;
  response_parser parser_;
  response_head head_;
  std::uint64_t received_ = 0;     // bytes of the response
  std::size_t interim_bytes_ = 0;  // of the response of 1xx that parse_head() has found

 private:
  unsigned interim_ = 0;  // responses before the last
};

}  // namespace weft::http
