// A request's body, piece by piece, as its handler asks for it.
//
// Problem: what does not fit in memory must be taken as it comes, no faster than it is used, and a
// handler must not take half a body for a whole one. Contract: a handler that takes a
// `http::body_reader&` is called when the head has come, and returns a task; it alone reads. While
// it does not ask for more, nothing is read from the connection, and the client has to wait; a
// client that waits to be asked for its body (`Expect: 100-continue`) is asked with the first
// read(). A piece is at most 16 KiB, lies where it was received, without a copy, and is gone with
// the next read().
//
// read() ends with errc::closed at the end of the body; with errc::reset if the client went away,
// errc::protocol_error if its framing is wrong, errc::limit_exceeded beyond limits::body_bytes and
// errc::timed_out below limits::body_bytes_per_second: then the body is lost, and the client is
// told why, whatever the handler replies. errc::cancelled and errc::timed_out of the task's own
// deadline lose nothing: the next read() goes on. What a handler leaves unread is dropped, within
// limits::unread_body_bytes; else the connection ends after the reply. One shard.
//
//   http.put("/files/{name}", [](http::body_reader& body) -> task<result<std::string>> {
//     std::uint64_t sum = 0;
//     while (auto piece = co_await body.read()) sum += piece->size();
//     if (auto whole = body.outcome(); !whole) co_return fail(whole.error());
//     co_return std::to_string(sum);
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/body_decoding.hpp>
#include <weft/http/body_pace.hpp>
#include <weft/http/chunked_decoder.hpp>
#include <weft/http/fault.hpp>
#include <weft/loop/buffer_pool.hpp>

namespace weft {
class event_loop;
class file;
}  // namespace weft

namespace weft::http {

class carrier;
struct active_request;
namespace http2 {
class server_stream;
}

class body_reader {
 public:
  body_reader(const body_reader&) = delete;
  body_reader& operator=(const body_reader&) = delete;
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }

  /// The next piece, never empty. One at a time.
  [[nodiscard]] task<result<std::string_view>> read();

  /// Reads all that is left into a file, from `offset` on, some 64 KiB at a time. Fails as read()
  /// does, but for the end, or as the file does.
  [[nodiscard]] task<result<void>> read_into(file& into, std::uint64_t offset = 0);

  /// Whether all of the body has been read, or else what the last read() failed with; before that
  /// errc::unavailable.
  [[nodiscard]] result<void> outcome() const noexcept;
  /// Whether what is left will never come.
  [[nodiscard]] bool is_lost() const noexcept { return state_ == state::failed; }
  /// What the client has announced; nothing if it sends chunks, or what is to be decoded.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept;
  /// Bytes of content that read() has given.
  [[nodiscard]] std::uint64_t given_bytes() const noexcept { return given_; }

 private:
  friend class connection;
  friend class http2::server_stream;
  friend class exchange;
  friend class multipart_reader;

  body_reader(carrier& client, active_request& of) noexcept;

  [[nodiscard]] bool complete() const noexcept { return state_ == state::complete; }
  /// As it was sent, and decoded if it is to be.
  [[nodiscard]] bool is_whole() const noexcept { return complete() && !decoding_; }
  /// Before the first read(): the handler gets what `by` makes of it.
  void decode_by(body_decoding by);
  /// The handler has done.
  void stop_decoding() noexcept { decoding_.reset(); }
  [[nodiscard]] task<result<std::string_view>> read_coded();
  [[nodiscard]] task<result<std::string_view>> read_decoded();
  /// What is wrong with the body, to be told to the client; nothing: nothing is.
  [[nodiscard]] const std::optional<protocol_fault>& fault() const noexcept { return fault_; }
  /// Whether the rest of the body is likely to be dropped and not to end the connection.
  [[nodiscard]] bool may_be_left() const noexcept;
  /// Whether so much is missing that a handler that reads no more ends the connection.
  [[nodiscard]] bool is_too_long_to_drop() const noexcept;
  /// Whether bytes have come behind the body.
  [[nodiscard]] bool more_has_come() const noexcept;
  /// Reads what is left. False: too much, or it does not come.
  [[nodiscard]] task<bool> drop_rest();
  /// Leaves what has come behind the body in the connection's input, behind the head. Gives how
  /// many bytes of the body still stand between.
  [[nodiscard]] std::size_t give_back();

  enum class state : std::uint8_t { unasked, reading, complete, failed };

  [[nodiscard]] event_loop& loop() const noexcept;
  [[nodiscard]] std::uint64_t missing_bytes() const noexcept;
  void begin() noexcept;
  [[nodiscard]] result<std::string_view> take() noexcept;
  void take_received(std::string_view bytes) noexcept;
  task<bool> ask_for_it();
  task<result<std::string_view>> receive_in_time();
  [[nodiscard]] std::unexpected<error> lose(error why) noexcept;
  [[nodiscard]] std::unexpected<error> lose(const protocol_fault& why, errc code) noexcept;

  carrier& client_;
  active_request& of_;
  std::string_view pending_;  // received and not yet given: in the connection's input, or in slot_
  buffer_ref slot_;
  chunked_decoder decoder_;
  std::unique_ptr<body_decoding> decoding_;  // until its end has been given
  std::string_view coded_;                   // taken and not yet decoded
  std::uint64_t left_ = 0;                   // of what was announced
  std::uint64_t received_ = 0;               // on the wire
  std::uint64_t given_ = 0;                  // decoded, if it is to be
  std::size_t since_yield_ = 0;
  body_pace pace_;
  time_point left_alone_since_;
  std::optional<protocol_fault> fault_;
  error failure_{errc::unavailable};
  state state_ = state::unasked;
  bool chunked_ = false;
  bool is_coded_ = false;
  bool expects_ = false;  // the client waits to be asked
  bool in_slot_ = false;  // what came with the head has been used up
};

}  // namespace weft::http
