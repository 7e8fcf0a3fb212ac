// The heads of the frames that come, before nghttp2 sees them.
//
// Problem: nghttp2 passes over some frames without a word. Contract: next() is given the input as
// it comes, in pieces of any size, and says where it would have nghttp2 read up to first; it checks
// nothing. The preface of a client is passed over. One shard.
//
//   for (std::string_view rest = bytes; const auto head = walker.next(rest);) judge(*head);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace weft::http::http2 {

/// RFC 9113 section 4.1.
struct frame_head {
  static constexpr std::size_t size_bytes = 9;

  std::uint32_t length;
  std::uint8_t type;
  std::uint8_t flags;
  std::int32_t stream;
};

class frame_walker {
 public:
  explicit frame_walker(std::size_t preface_bytes) noexcept : left_{preface_bytes} {}

  /// The next head, behind which `rest` then begins; nothing: more must come first.
  [[nodiscard]] std::optional<frame_head> next(std::string_view& rest) noexcept {
    const std::size_t passed = std::min(left_, rest.size());
    rest.remove_prefix(passed);
    left_ -= passed;
    if (left_ != 0 || rest.empty()) return std::nullopt;
    const std::size_t missing = frame_head::size_bytes - have_;
    if (have_ == 0 && rest.size() >= missing) [[likely]]
      return take(rest, rest.data());
    const std::size_t part = std::min(missing, rest.size());
    std::memcpy(text_ + have_, rest.data(), part);
    if (part == missing) return take(rest, text_);
    have_ += part;
    rest = {};
    return std::nullopt;
  }

  /// Whether some of a frame's payload is still to come.
  [[nodiscard]] bool is_within() const noexcept { return left_ != 0; }

 private:
  std::optional<frame_head> take(std::string_view& rest, const char* text) noexcept {
    const auto byte = [&](std::size_t at) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at]));
    };
    rest.remove_prefix(frame_head::size_bytes - have_);
    have_ = 0;
    left_ = byte(0) << 16U | byte(1) << 8U | byte(2);
    const std::uint32_t id = byte(5) << 24U | byte(6) << 16U | byte(7) << 8U | byte(8);
    return frame_head{.length = static_cast<std::uint32_t>(left_),
                      .type = static_cast<std::uint8_t>(byte(3)),
                      .flags = static_cast<std::uint8_t>(byte(4)),
                      .stream = static_cast<std::int32_t>(id & 0x7fffffffU)};
  }

  std::size_t left_;      // of the frame's payload, or the preface
  std::size_t have_ = 0;  // of a head
  char text_[frame_head::size_bytes]{};
};

}  // namespace weft::http::http2
