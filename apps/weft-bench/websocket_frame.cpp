#include "websocket_frame.hpp"

#include <sys/random.h>

#include <algorithm>
#include <utility>

namespace weft::bench {
namespace {

constexpr std::uint8_t final_bit = 0x80;
constexpr std::uint8_t reserved_bits = 0x70;
constexpr std::uint8_t mask_bit = 0x80;
constexpr std::uint8_t two_bytes = 126;
constexpr std::uint8_t eight_bytes = 127;
constexpr std::uint64_t control_most_bytes = 125;

void append_length(std::string& frame, std::uint64_t length) {
  const auto append = [&frame](std::uint64_t byte) { frame += static_cast<char>(byte & 0xffU); };
  if (length < two_bytes) return append(mask_bit | length);
  const int bytes = length <= 0xffff ? 2 : 8;
  append(mask_bit | (bytes == 2 ? two_bytes : eight_bytes));
  for (int i = bytes - 1; i >= 0; --i) append(length >> (8 * i));
}

}  // namespace

std::string masked_frame(opcode means, std::string_view payload) {
  std::array<char, 4> mask{};
  if (::getrandom(mask.data(), mask.size(), 0) < 0) mask.fill(0);
  std::string frame(1, static_cast<char>(final_bit | std::to_underlying(means)));
  append_length(frame, payload.size());
  frame.append(mask.data(), mask.size());
  for (std::size_t i = 0; i < payload.size(); ++i)
    frame += static_cast<char>(payload[i] ^ mask[i % mask.size()]);
  return frame;
}

std::size_t frame_header::take(std::string_view bytes) {
  const std::size_t before = size_;
  for (const char byte : bytes) {
    if (is_whole()) break;
    bytes_[size_++] = static_cast<std::uint8_t>(byte);
  }
  return size_ - before;
}

std::size_t frame_header::needed() const {
  if (size_ < 2) return 2;
  const unsigned length = bytes_[1] & 0x7fU;
  const unsigned longer = length == two_bytes ? 2 : length == eight_bytes ? 8 : 0;
  return 2 + longer;
}

bool frame_header::is_valid() const {
  if ((bytes_[0] & reserved_bits) != 0 || (bytes_[1] & mask_bit) != 0) return false;
  if (is_control())
    return std::to_underlying(means()) <= std::to_underlying(opcode::pong) && is_final() &&
           payload_bytes() <= control_most_bytes;
  return std::to_underlying(means()) <= std::to_underlying(opcode::binary);
}

std::uint64_t frame_header::payload_bytes() const {
  if (size_ == 2) return bytes_[1] & 0x7fU;
  std::uint64_t length = 0;
  for (std::size_t i = 2; i < size_; ++i) length = length << 8U | bytes_[i];
  return length;
}

}  // namespace weft::bench
