// Frames as they stand in the bytes of a connection (RFC 9113 section 4.1).
//
// Contract: internal to http. Pure functions, which check nothing. Numbers are big-endian. What
// put_frame_head() is given to write into has frame_head::size_bytes of room.
//
//   out = put_frame_head(out, {.length = 8, .type = NGHTTP2_PING, .flags = NGHTTP2_FLAG_ACK});
#pragma once

#include <nghttp2/nghttp2.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::http::http2 {

/// Of a payload, where nothing else was agreed on (SETTINGS_MAX_FRAME_SIZE).
inline constexpr std::uint32_t payload_most_bytes = 16'384;
/// How much may come of a body where nothing else was agreed on, and how much ever may.
inline constexpr std::int64_t first_window_bytes = 65'535;
inline constexpr std::int64_t window_most_bytes = INT32_MAX;

struct frame_head {
  static constexpr std::size_t size_bytes = 9;

  std::uint32_t length = 0;
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  std::int32_t stream = 0;

  [[nodiscard]] bool has(unsigned flag) const noexcept { return (flags & flag) != 0; }
};

[[nodiscard]] inline std::uint32_t read_number(const char* text) noexcept {
  std::uint32_t number = 0;
  std::memcpy(&number, text, sizeof number);
  return std::byteswap(number);
}
/// Without the bit that is reserved.
[[nodiscard]] inline std::int32_t read_id(const char* text) noexcept {
  return static_cast<std::int32_t>(read_number(text) & 0x7fff'ffffU);
}
[[nodiscard]] inline std::uint32_t read_short(const char* text) noexcept {
  std::uint16_t number = 0;
  std::memcpy(&number, text, sizeof number);
  return std::byteswap(number);
}

[[nodiscard]] inline frame_head read_frame_head(const char* text) noexcept {
  return {.length = read_number(text) >> 8U,
          .type = static_cast<std::uint8_t>(text[3]),
          .flags = static_cast<std::uint8_t>(text[4]),
          .stream = read_id(text + 5)};
}

/// Gives the end of what was written, as the next.
inline char* put_number(char* out, std::uint32_t number) noexcept {
  number = std::byteswap(number);
  std::memcpy(out, &number, sizeof number);
  return out + sizeof number;
}
inline char* put_short(char* out, std::uint32_t number) noexcept {
  const std::uint16_t turned = std::byteswap(static_cast<std::uint16_t>(number));
  std::memcpy(out, &turned, sizeof turned);
  return out + sizeof turned;
}
inline char* put_frame_head(char* out, const frame_head& head) noexcept {
  out = put_number(out, head.length << 8U | head.type);
  *out = static_cast<char>(head.flags);
  return put_number(out + 1, static_cast<std::uint32_t>(head.stream));
}

}  // namespace weft::http::http2
