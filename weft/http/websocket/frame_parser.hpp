// Reads the heads of WebSocket frames, to the letter of RFC 6455 section 5.
//
// Problem: what one end lets pass and the other reads in another way is how frames are smuggled
// through what stands between. Contract: internal to http. parse() is given bytes that begin where
// a head does, or where the last call left off; it takes all of them with `incomplete`, and up to
// the payload with `complete`, which is the caller's to take before it asks again. The answer does
// not depend on how the bytes were cut. Refused: reserved bits and opcodes, lengths that are not in
// their shortest form, masks where there must be none and none where there must be one, control
// frames in fragments or beyond 125 bytes, and fragments out of order. Allocates nothing. Single
// thread.
//
//   frame_parser parser{role::server, false};
//   frame_head head;
//   const frame_progress step = parser.parse(received, head);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/http/websocket/close_code.hpp>
#include <weft/http/websocket/frame_head.hpp>

namespace weft::http::ws {

enum class frame_status : std::uint8_t { incomplete, complete, failed };

struct frame_progress {
  frame_status status;
  std::size_t consumed_bytes;
};

/// Why a connection must be failed (RFC 6455 section 7.1.7). `reason` is in static storage, and
/// fits a close frame.
struct frame_fault {
  close_code code = close_code::normal;
  std::string_view reason{};
};

class frame_parser {
 public:
  /// `self`: who reads. `may_compress`: permessage-deflate was agreed on.
  frame_parser(role self, bool may_compress) noexcept : self_{self}, may_compress_{may_compress} {}

  [[nodiscard]] frame_progress parse(std::string_view input, frame_head& head) noexcept;

  /// After `failed`.
  [[nodiscard]] frame_fault fault() const noexcept { return {close_code::protocol_error, reason_}; }

 private:
  [[nodiscard]] frame_progress finish(const char* bytes, frame_head& head,
                                      std::size_t consumed_bytes) noexcept;
  [[nodiscard]] std::string_view check(const frame_head& head, std::uint8_t first) const noexcept;

  std::string_view reason_;
  std::array<char, frame_head::most_bytes> begun_{};  // of a head that has not come whole
  std::uint8_t begun_bytes_ = 0;
  role self_;
  bool may_compress_;
  bool in_message_ = false;  // the last frame of one has not come yet
};

}  // namespace weft::http::ws
