// A reply's body, piece by piece, as fast as the client takes it.
//
// Problem: what does not fit in memory must be made as it goes out, and a client must not take half
// a body for a whole one. Contract: a handler that takes a `http::body_writer&` returns task<void>
// or task<result<void>>. The first write() sends the head: what start() said, or else 200 and
// application/octet-stream. The body has the length that was announced, or goes in chunks; to an
// HTTP/1.0 client it ends with the connection, which cannot tell it from a broken one. Small pieces
// leave together at the end of the turn. write() first waits while the client is slow: no piece is
// queued behind more than net::tcp_stream::high_watermark bytes. One that fails has queued nothing
// of its piece.
//
// The body ends when the handler does. One that fails before its first write is answered as any
// other; later, and so if it wrote less than it announced, the connection is closed within the
// body. write() fails with errc::timed_out once the client has taken nothing for
// limits::write_stall_timeout, with errc::reset or the like when it has gone, and with
// errc::invalid_argument for what cannot be sent: beyond the announced length, with a status that
// has no body, or after another reply. HEAD is answered with the head alone: what is written goes
// nowhere. One shard.
//
//   http.get("/numbers", [](http::body_writer& out) -> task<result<void>> {
//     for (int i = 0; i < 1'000'000; ++i)
//       if (auto sent = co_await out.write(std::to_string(i) + "\n"); !sent) co_return sent;
//     co_return {};
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/coro/borrowed_text.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/coded_slots.hpp>
#include <weft/http/content_encoder.hpp>
#include <weft/http/response.hpp>
#include <weft/http/send_pace.hpp>

namespace weft {
class file;
}

namespace weft::http {

enum class body_framing : std::uint8_t;
class carrier;
struct active_request;
namespace http2 {
class server_stream;
}
struct compress_rules;

class body_writer {
 public:
  body_writer(const body_writer&) = delete;
  body_writer& operator=(const body_writer&) = delete;
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }

  /// Status, content type and fields of the reply; a body that `head` has goes first. To be said
  /// before the first write. `length_bytes`: of the whole body, if that is known.
  void start(response head, std::optional<std::uint64_t> length_bytes = std::nullopt);

  /// Copies `text`, which is borrowed until then.
  [[nodiscard]] borrowing_task<result<void>> write(borrowed_text text WEFT_LIFETIME_BOUND);
  /// Takes `text` over at the call, and sends it from where it is.
  [[nodiscard]] task<result<void>> write(std::string&& text);
  [[nodiscard]] borrowing_task<result<void>> write(const char* text WEFT_LIFETIME_BOUND) {
    return write(borrowed_text{text});
  }

  /// Writes `size_bytes` of a file, from `offset` on: what is in memory without a copy, where the
  /// kernel has a way (tcp_stream::send_from()). errc::unavailable if the file ends before that.
  [[nodiscard]] task<result<void>> write_from(file& from, std::uint64_t offset,
                                              std::uint64_t size_bytes);

  /// Bytes of the body that have been written so far.
  [[nodiscard]] std::uint64_t written_bytes() const noexcept { return written_; }

 private:
  friend class connection;
  friend class http2::server_stream;
  friend class exchange;

  body_writer(carrier& client, active_request& of) noexcept : client_{client}, of_{of} {}

  enum class state : std::uint8_t { unbegun, open, ended, broken };

  /// The handler has succeeded.
  void end();
  /// From now on what is written is coded. False: too many are, or there is no memory.
  [[nodiscard]] bool code_by(compress_rules& rules, content_coding as);
  void release_encoder() noexcept;
  /// As written_bytes(), coded.
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept {
    return is_coded_ ? coded_bytes_ : written_;
  }
  [[nodiscard]] bool is_begun() const noexcept { return state_ != state::unbegun; }
  [[nodiscard]] bool is_whole() const noexcept { return state_ == state::ended; }

  void begin();
  [[nodiscard]] result<void> admit(std::size_t size_bytes);
  template <class Text>
  task<result<void>> write_text(Text text);
  void append(std::string_view text);
  void append(std::string&& text);
  template <class Text>
  void give(Text&& text);
  void append_coded(std::string_view text, feed how);
  /// What is too long to be coded in one go.
  task<result<void>> append_slices(std::string_view text);
  /// Looks at the client that is waited for. False: it takes too little.
  [[nodiscard]] bool client_takes_enough() noexcept;
  /// Waits while more than the low watermark is queued, or, for `empty`, anything at all.
  task<result<void>> make_room(bool empty);
  task<result<void>> copy_from(file& from, std::uint64_t offset, std::size_t size_bytes);
  [[nodiscard]] std::size_t send_from(const file& from, std::uint64_t offset,
                                      std::uint64_t size_bytes);

  carrier& client_;
  active_request& of_;
  std::optional<content_encoder> encoder_;
  coded_slot slot_;  // of encoder_
  std::uint64_t coded_bytes_ = 0;
  bool is_coded_ = false;
  response head_{status::ok, application_octet_stream, {}};
  std::optional<std::uint64_t> length_;
  std::uint64_t written_ = 0;
  std::size_t since_yield_ = 0;
  send_pace pace_;
  error failure_{errc::invalid_argument};  // of one that is broken
  body_framing framing_{};
  state state_ = state::unbegun;
  bool discards_ = false;  // the reply has no body
};

}  // namespace weft::http
