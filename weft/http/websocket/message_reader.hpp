// Makes messages of the bytes that a WebSocket's other end sends.
//
// Problem: frames interleave, split and compress what programs want whole, and nothing of it may be
// believed. Contract: internal to http. next() is given bytes in memory that may be written to,
// for they are unmasked where they lie, and stops behind the first thing that its caller must know:
// a message, a ping, pong or close, or why the connection must be failed. With `nothing` it has
// used up all of them. A message that came in one frame and one piece lies where it was received;
// any other in memory of the reader's, which take_message() gives away. The outcome does not depend
// on how the bytes were cut. Limits: a message beyond message_bytes fails with 1009 before what is
// too long is kept, compressed ones both as they come and as they are; text that is no UTF-8 with
// 1007, as soon as that can be told of what is not compressed. One shard.
//
//   message_reader reader{role::server, {.message_bytes = 1 << 20}, pool, nullptr};
//   const read_progress step = reader.next(received);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <weft/http/websocket/frame_parser.hpp>
#include <weft/http/websocket/message_memory.hpp>
#include <weft/http/websocket/utf8_checker.hpp>
#include <weft/http/websocket/websocket_message.hpp>

namespace weft::http::ws {

class message_inflater;

enum class read_event : std::uint8_t { nothing, message, ping, pong, close, failed };

struct read_progress {
  read_event what;
  std::size_t consumed_bytes;
};

/// What a close frame says (RFC 6455 section 5.5.1).
struct close_reason {
  close_code code = close_code::no_status;
  std::string_view text{};
};

class message_reader {
 public:
  /// `inflater`: nullptr: messages are not compressed. It may serve others between two calls.
  message_reader(role self, std::size_t message_bytes, buffer_pool& pool,
                 message_inflater* inflater) noexcept
      : parser_{self, inflater != nullptr},
        message_bytes_{message_bytes},
        inflater_{inflater},
        memory_{pool} {}

  [[nodiscard]] read_progress next(std::span<char> input);

  /// After `message`: what it is.
  [[nodiscard]] websocket_message message() const noexcept { return {kind_, whole_}; }
  /// After `message`: whether that lies in memory of the reader's; then `into` is given it, and the
  /// message's view stays what it is for as long as that.
  [[nodiscard]] bool take_message(message_memory& into) noexcept;
  /// After `ping` and `pong`, until the next call: what it carries.
  [[nodiscard]] std::string_view control() const noexcept { return whole_; }
  /// After `close`, until the next call.
  [[nodiscard]] close_reason closing() const noexcept;
  /// After `failed`.
  [[nodiscard]] frame_fault fault() const noexcept { return fault_; }

 private:
  using control_room = std::array<char, control_most_bytes>;

  [[nodiscard]] read_event begin_frame();
  [[nodiscard]] read_event take_payload(std::span<char> piece, bool is_whole_frame);
  [[nodiscard]] read_event take_control(std::string_view piece, bool is_whole_frame);
  [[nodiscard]] read_event take_data(std::string_view piece, bool is_whole_frame);
  [[nodiscard]] read_event end_message(std::string_view payload, bool lies_in_input);
  [[nodiscard]] read_event check_close() noexcept;
  [[nodiscard]] read_event fail(close_code code, std::string_view reason) noexcept;

  frame_parser parser_;
  frame_head head_;
  std::size_t message_bytes_;
  message_inflater* inflater_;
  message_memory memory_;                   // of the message under way
  std::unique_ptr<control_room> in_parts_;  // a control frame that does not come in one piece
  std::uint64_t left_ = 0;                  // of the payload
  std::string_view whole_;                  // what the last event is about
  frame_fault fault_;
  utf8_checker utf8_;
  message_kind kind_ = message_kind::binary;
  bool in_frame_ = false;
  bool is_compressed_ = false;  // the message
  bool is_in_memory_ = false;   // as take_message() says
};

}  // namespace weft::http::ws
