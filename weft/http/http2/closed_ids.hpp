// Which frames may still come for streams that are no more.
//
// Problem: what a client sends for a stream that both sides, or it itself, have closed is its error
// (RFC 9113 section 5.1), and so is a stream with a number below one that it has used (section
// 5.1.1); what it sent before it heard that we have reset a stream is none. Contract: is_new() is
// told of each frame of a message, and says whether there cannot have been such a stream yet.
// judge() is for the others, if there is no such stream now, and gives the error that it is. For a
// while after we have reset any stream nothing is an error. Numbers that were passed over are known
// of the last gap alone. One shard.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>

#include <weft/base/time.hpp>

namespace weft::http::http2 {

class closed_ids {
 public:
  /// As long as what a slow client has queued may be under way.
  static constexpr duration grace = std::chrono::minutes{1};

  /// The highest number that was used; 0: none was.
  [[nodiscard]] std::int32_t last() const noexcept { return last_ < 0 ? 0 : last_; }

  void note_reset(time_point now) noexcept { tolerant_until_ = now + grace; }

  [[nodiscard]] bool is_new(std::int32_t id, bool opens) noexcept {
    if (id <= last_) return false;
    if (!opens || id % 2 == 0) return true;
    if (id != last_ + 2) {
      gap_begin_ = last_ + 2;
      gap_end_ = id;
    }
    last_ = id;
    return true;
  }

  [[nodiscard]] std::uint32_t judge(std::int32_t id, time_point now) const noexcept {
    if (id % 2 == 0) return NGHTTP2_NO_ERROR;  // is_new() has said so
    if (id >= gap_begin_ && id < gap_end_) return NGHTTP2_PROTOCOL_ERROR;
    return now < tolerant_until_ ? NGHTTP2_NO_ERROR : NGHTTP2_STREAM_CLOSED;
  }

 private:
  std::int32_t last_ = -1;  // that was used
  std::int32_t gap_begin_ = 0;
  std::int32_t gap_end_ = 0;
  time_point tolerant_until_ = time_point::min();
};

}  // namespace weft::http::http2
