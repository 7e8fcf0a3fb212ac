// The frames of a WebSocket (RFC 6455 section 5.2), as a load needs them: a client's are made, a
// server's headers read.
//
//   std::string bytes = masked_frame(opcode::text, "hello");
//   frame_header header;  while (!header.is_whole()) bytes.remove_prefix(header.take(bytes));
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::bench {

enum class opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10
};

// A whole message with a random mask.
std::string masked_frame(opcode means, std::string_view payload);

class frame_header {
 public:
  // From the front of `bytes`; how many of them were the header's.
  std::size_t take(std::string_view bytes);
  [[nodiscard]] bool is_whole() const { return size_ == needed(); }
  // Whether a server may send it where no extension was agreed.
  [[nodiscard]] bool is_valid() const;

  [[nodiscard]] opcode means() const { return static_cast<opcode>(bytes_[0] & 0x0fU); }
  [[nodiscard]] bool is_final() const { return (bytes_[0] & 0x80U) != 0; }
  [[nodiscard]] bool is_control() const { return (bytes_[0] & 0x08U) != 0; }
  [[nodiscard]] std::uint64_t payload_bytes() const;

 private:
  [[nodiscard]] std::size_t needed() const;

  std::array<std::uint8_t, 14> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace weft::bench
