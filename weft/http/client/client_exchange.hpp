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
#include <string>
#include <string_view>

#include <weft/coro/frame_pool.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/body_decoding.hpp>
#include <weft/http/client/client_core.hpp>
#include <weft/http/client/outgoing_request.hpp>
#include <weft/http/client/request_fault.hpp>
#include <weft/http/client/response_body.hpp>
#include <weft/http/client/response_head.hpp>
#include <weft/http/client/response_parser.hpp>
#include <weft/http/input_buffer.hpp>

namespace weft::http {

class client_exchange {
 public:
  template <class T>
  using outcome = std::expected<T, request_fault>;

  /// All of them outlive it.
  client_exchange(client_core& core, const outgoing_request& asked, const url_parts& to,
                  const limits& bounds) noexcept
      : core_{core}, asked_{asked}, to_{to}, bounds_{bounds} {}
  client_exchange(const client_exchange&) = delete;
  client_exchange& operator=(const client_exchange&) = delete;
  ~client_exchange() { leave(); }
  // Nearly three kilobytes: within a task's frame they would be more than the frame pool keeps.
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
  [[nodiscard]] const response_head& head() const noexcept { return head_; }
  /// What has come: the head, and perhaps more. Until the first read().
  [[nodiscard]] std::string_view text() const noexcept { return input_.text(); }

  /// The next piece of the body, until the next read(); empty: its end.
  [[nodiscard]] task<outcome<std::string_view>> read() {
    return decoding_ ? read_decoded() : read_as_sent();
  }
  /// All of it: where it has come, or, if it came in pieces, in `room`, which is empty.
  [[nodiscard]] task<outcome<std::string_view>> read_all(std::string& room);

  /// Gives the connection back, or closes it. What read() gave last stays.
  void leave() noexcept;

 private:
  [[nodiscard]] client_connection& connection() const noexcept { return *lease_.connection(); }

  [[nodiscard]] bool has_usable_connection() const noexcept;
  task<outcome<void>> lease_connection();
  task<outcome<void>> connect();
  task<outcome<void>> ask();
  task<void> send();
  void queue_head(const environment& caller, std::string_view body);
  [[nodiscard]] bool is_chunked() const noexcept { return asked_.is_streamed && !asked_.length; }
  /// Sends what is queued. errc::closed: the server answers already.
  task<result<void>> push();
  task<result<void>> make_room();
  task<outcome<void>> read_response();
  task<outcome<void>> read_head();
  [[nodiscard]] bool asks_for_codings() const noexcept {
    return core_.options.decompress && !asked_.says_codings;
  }
  [[nodiscard]] outcome<void> begin_decoding();
  task<outcome<std::string_view>> read_as_sent();
  task<outcome<std::string_view>> read_decoded();
  /// True: `head_` is that of the response. False: more must come.
  [[nodiscard]] outcome<bool> take_head();
  task<result<void>> receive();
  [[nodiscard]] bool may_ask_again(error why) const noexcept;
  [[nodiscard]] request_fault broken_off(error why, std::string_view where) const;
  [[nodiscard]] request_fault malformed(const protocol_fault& why, bool is_too_large) const;

  client_core& core_;
  const outgoing_request& asked_;
  const url_parts& to_;
  const limits& bounds_;
  origin_pool::lease lease_;
  input_buffer input_;
  response_parser parser_;
  response_head head_;
  response_body body_;
  std::unique_ptr<body_decoding> decoding_;  // where the body is coded
  std::string_view coded_;                   // read and not yet decoded
  std::size_t used_ = 0;                     // at the front of the input: what has been given
  std::uint64_t written_ = 0;                // of a body that is streamed
  std::uint64_t received_ = 0;               // bytes of the response
  unsigned interim_ = 0;                     // responses before the last
  bool is_kept_ = false;                     // the connection has served before
  bool is_sent_ = false;                     // the request, whole
  bool is_begun_ = false;                    // the response has its head
};

}  // namespace weft::http
