// The Date header's text, and how replies begin with it.
//
// Contract: IMF-fixdate (RFC 9110 section 5.6.7), always 29 bytes, in GMT. Nearly all replies begin
// with the same two lines for a second, so these are kept as one text. A date_cache belongs to one
// shard and is asked with the loop's time once per reply; it asks for the wall clock and writes the
// text anew only when the second that it shows is over, so that a reply costs one comparison. A
// step of the wall clock shows within a second.
//
//   date_cache dates;
//   dates.at(loop.now(), [&] { return loop.wall_now(); }).date_line();
//   // "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/base/time.hpp>

namespace weft::http {

inline constexpr std::size_t date_size_bytes = 29;

// `unix_seconds` since 1970-01-01 00:00:00 UTC; what lies outside the years 0 to 9999 is written as
// their first or last second.
[[nodiscard]] std::array<char, date_size_bytes> format_date(std::int64_t unix_seconds) noexcept;

// "HTTP/1.1 200 OK" and the Date field, each with its line end.
class reply_start {
 public:
  static constexpr std::size_t size_bytes = 54;
  // What is copied at once: a size that takes no call.
  static constexpr std::size_t copied_bytes = 64;

  explicit reply_start(const std::array<char, date_size_bytes>& date) noexcept;

  [[nodiscard]] const char* data() const noexcept { return text_.data(); }
  [[nodiscard]] std::string_view date_line() const noexcept {
    return {text_.data() + status_line_bytes, size_bytes - status_line_bytes};
  }

 private:
  static constexpr std::size_t status_line_bytes = 17;

  std::array<char, copied_bytes> text_{};
};

class date_cache {
 public:
  // As it is now, by a clock that counts from 1970-01-01 00:00:00 UTC; changes in the next call.
  template <class WallClock>
  [[nodiscard]] const reply_start& at(time_point loop_time, WallClock wall_now) noexcept {
    if (loop_time >= valid_until_) [[unlikely]]
      refresh(loop_time, wall_now());
    return start_;
  }

 private:
  [[gnu::noinline]] void refresh(time_point loop_time, duration wall) noexcept;

  time_point valid_until_ = time_point::min();
  reply_start start_{{}};
};

}  // namespace weft::http
