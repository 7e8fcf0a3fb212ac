#include <weft/http/websocket/frame_parser.hpp>

#include <algorithm>

namespace weft::http::ws {
namespace {

constexpr std::size_t least_bytes = 2;

std::uint8_t byte_at(const char* bytes, std::size_t at) noexcept {
  return static_cast<std::uint8_t>(bytes[at]);
}

/// Of the whole head, as its second byte says.
std::size_t head_bytes(std::uint8_t second) noexcept {
  const unsigned length = second & ~unsigned{frame_head::mask_bit};
  const std::size_t more = length == frame_head::length_16   ? 2U
                           : length == frame_head::length_64 ? 8U
                                                             : 0U;
  return least_bytes + more + ((second & frame_head::mask_bit) != 0 ? sizeof(frame_head::key) : 0);
}

std::uint64_t read_number(const char* bytes, std::size_t count) noexcept {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i != count; ++i) number = number << 8U | byte_at(bytes, i);
  return number;
}

bool is_known(std::uint8_t code) noexcept {
  return code <= std::to_underlying(opcode::binary) ||
         (code >= std::to_underlying(opcode::close) && code <= std::to_underlying(opcode::pong));
}

}  // namespace

frame_progress frame_parser::parse(std::string_view input, frame_head& head) noexcept {
  if (begun_bytes_ == 0 && input.size() >= least_bytes) [[likely]] {
    const std::size_t size = head_bytes(byte_at(input.data(), 1));
    if (input.size() >= size) return finish(input.data(), head, size);
  }
  for (std::size_t taken = 0; taken != input.size();) {
    begun_[begun_bytes_++] = input[taken++];
    if (begun_bytes_ < least_bytes || begun_bytes_ != head_bytes(byte_at(begun_.data(), 1)))
      continue;
    begun_bytes_ = 0;
    return finish(begun_.data(), head, taken);
  }
  return {frame_status::incomplete, input.size()};
}

frame_progress frame_parser::finish(const char* bytes, frame_head& head,
                                    std::size_t consumed_bytes) noexcept {
  const std::uint8_t first = byte_at(bytes, 0);
  const std::uint8_t second = byte_at(bytes, 1);
  const unsigned length = second & ~unsigned{frame_head::mask_bit};
  const char* after = bytes + least_bytes;
  std::uint64_t size = length;
  std::uint64_t least = 0;
  if (length == frame_head::length_16) {
    size = read_number(after, 2);
    least = frame_head::length_16;
    after += 2;
  } else if (length == frame_head::length_64) {
    size = read_number(after, 8);
    least = std::uint64_t{UINT16_MAX} + 1;
    after += 8;
  }
  head = {.is_final = (first & frame_head::final_bit) != 0,
          .is_compressed = (first & frame_head::compressed_bit) != 0,
          .is_masked = (second & frame_head::mask_bit) != 0,
          .kind = static_cast<opcode>(first & 0x0fU),
          .key = 0,
          .payload_bytes = size};
  if (head.is_masked) std::memcpy(&head.key, after, sizeof head.key);
  reason_ = size < least ? "the length is not in its shortest form" : check(head, first);
  if (!reason_.empty()) return {frame_status::failed, consumed_bytes};
  if (!is_control(head.kind)) in_message_ = !head.is_final;
  return {frame_status::complete, consumed_bytes};
}

/// What is wrong with it; empty: nothing.
std::string_view frame_parser::check(const frame_head& head, std::uint8_t first) const noexcept {
  constexpr unsigned always_reserved = 0x30;
  if ((first & always_reserved) != 0) return "a reserved bit is set";
  if (!is_known(first & 0x0fU)) return "a reserved opcode";
  if (head.is_masked != (self_ == role::server))
    return head.is_masked ? "a server's frame is masked" : "a client's frame is not masked";
  if (head.payload_bytes > INT64_MAX) return "the length has its highest bit set";
  if (is_control(head.kind)) {
    if (!head.is_final) return "a control frame is fragmented";
    if (head.payload_bytes > control_most_bytes) return "a control frame is longer than 125 bytes";
    if (head.is_compressed) return "a control frame is compressed";
    return {};
  }
  const bool continues = head.kind == opcode::continuation;
  if (continues && !in_message_) return "a continuation of no message";
  if (!continues && in_message_) return "a message begins within another";
  if (head.is_compressed && (continues || !may_compress_))
    return continues ? "a continuation says that it is compressed"
                     : "compressed, which was not agreed on";
  return {};
}

}  // namespace weft::http::ws
