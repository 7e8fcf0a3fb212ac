// The Date header's text.
//
// Contract: IMF-fixdate (RFC 9110 section 5.6.7), always 29 bytes, in GMT. A date_cache belongs to
// one shard and is asked with the loop's time once per reply; it reads the wall clock and writes
// the text anew only when the second that it shows is over, so that a reply costs one comparison. A
// step of the wall clock shows within a second.
//
//   date_cache dates;
//   std::string_view now = dates.at(loop.now());      // "Sun, 06 Nov 1994 08:49:37 GMT"
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

class date_cache {
 public:
  // Valid until the next call.
  [[nodiscard]] std::string_view at(time_point loop_time) noexcept {
    if (loop_time >= valid_until_) refresh(loop_time);
    return {text_.data(), text_.size()};
  }

 private:
  void refresh(time_point loop_time) noexcept;

  time_point valid_until_ = time_point::min();
  std::array<char, date_size_bytes> text_{};
};

}  // namespace weft::http
