// What stands before the payload of a WebSocket frame (RFC 6455 section 5.2).
//
// Contract: internal to http. A value; write() fills at most frame_head::most_bytes, with the
// shortest form of the length, as the wire demands. `key` is the four bytes of the masking key in
// the order of the wire, whatever the machine's is.
//
//   frame_head head{.kind = opcode::text, .payload_bytes = text.size()};
//   char* const payload = head.write(out);
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace weft::http::ws {

/// Which end of a connection this is: a client masks what it sends, a server must not.
enum class role : std::uint8_t { server, client };

enum class opcode : std::uint8_t {
  continuation = 0x0,
  text = 0x1,
  binary = 0x2,
  close = 0x8,
  ping = 0x9,
  pong = 0xa
};

[[nodiscard]] constexpr bool is_control(opcode kind) noexcept {
  return (std::to_underlying(kind) & 0x8U) != 0;
}

/// Of a control frame's payload (RFC 6455 section 5.5).
inline constexpr std::size_t control_most_bytes = 125;

struct frame_head {
  static constexpr std::size_t most_bytes = 14;
  static constexpr std::uint8_t final_bit = 0x80;
  static constexpr std::uint8_t compressed_bit = 0x40;  // RSV1, RFC 7692 section 6
  static constexpr std::uint8_t mask_bit = 0x80;        // of the second byte
  static constexpr std::uint8_t length_16 = 126;        // two bytes of length follow
  static constexpr std::uint8_t length_64 = 127;        // eight

  bool is_final = true;
  bool is_compressed = false;
  bool is_masked = false;
  opcode kind = opcode::binary;
  std::uint32_t key = 0;
  std::uint64_t payload_bytes = 0;

  [[nodiscard]] std::size_t size_bytes() const noexcept {
    const std::size_t length = payload_bytes < length_16 ? 0 : payload_bytes <= UINT16_MAX ? 2 : 8;
    return 2 + length + (is_masked ? sizeof key : 0);
  }

  /// Gives where the payload goes.
  char* write(char* out) const noexcept {
    const auto put = [&out](std::uint64_t byte) { *out++ = static_cast<char>(byte); };
    put((is_final ? final_bit : 0U) | (is_compressed ? compressed_bit : 0U) |
        std::to_underlying(kind));
    const unsigned masked = is_masked ? mask_bit : 0U;
    if (payload_bytes < length_16) {
      put(masked | payload_bytes);
    } else if (payload_bytes <= UINT16_MAX) {
      put(masked | length_16);
      put(payload_bytes >> 8U);
      put(payload_bytes);
    } else {
      put(masked | length_64);
      for (unsigned shift = 64; shift != 0;) put(payload_bytes >> (shift -= 8));
    }
    if (is_masked) {
      std::memcpy(out, &key, sizeof key);
      out += sizeof key;
    }
    return out;
  }
};

}  // namespace weft::http::ws
