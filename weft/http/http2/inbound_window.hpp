// What a client may still send of bodies, of one stream or of all (RFC 9113 section 5.2).
//
// Contract: internal to http. take() is told what comes, and says whether it may. give_back() is
// told what was taken care of and gives by how much the client is to be told to go on: it is told
// once half a window has gathered. What has come and is not given back yet is the backpressure. One
// shard.
//
//   if (!window.take(size)) terminate(NGHTTP2_FLOW_CONTROL_ERROR);
//   if (const auto more = window.give_back(size); more != 0) send_window_update(id, more);
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::http::http2 {

class inbound_window {
 public:
  explicit inbound_window(std::int64_t size_bytes) noexcept
      : size_{size_bytes}, left_{size_bytes} {}

  [[nodiscard]] bool take(std::size_t size_bytes) noexcept {
    // What is empty needs no window, be it less than nothing (section 6.9.1).
    if (size_bytes != 0 && static_cast<std::int64_t>(size_bytes) > left_) return false;
    left_ -= static_cast<std::int64_t>(size_bytes);
    return true;
  }
  [[nodiscard]] std::uint32_t give_back(std::size_t size_bytes) noexcept {
    due_ += static_cast<std::int64_t>(size_bytes);
    if (due_ == 0 || due_ * 2 < size_) return 0;
    const std::int64_t more = due_;
    due_ = 0;
    left_ += more;
    return static_cast<std::uint32_t>(more);
  }
  /// The client has another idea of it from now on. What is left may be less than nothing.
  void resize(std::int64_t size_bytes) noexcept {
    left_ += size_bytes - size_;
    size_ = size_bytes;
  }

 private:
  std::int64_t size_;
  std::int64_t left_;
  std::int64_t due_ = 0;
};

}  // namespace weft::http::http2
