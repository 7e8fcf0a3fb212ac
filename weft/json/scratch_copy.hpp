// A copy of a text with the NUL byte behind it that glaze's fast path wants. Inside of weft/json.
#pragma once

#include <string>
#include <string_view>

namespace weft::json::detail {

// Lends the thread's scratch string, so that long texts cost no allocation when warm. At most
// max_kept_bytes stay with the thread; a longer text is allocated and freed. May be nested.
class scratch_copy {
 public:
  static constexpr std::size_t max_kept_bytes = 64 * 1024;

  explicit scratch_copy(std::string_view text);
  ~scratch_copy();
  scratch_copy(const scratch_copy&) = delete;
  scratch_copy& operator=(const scratch_copy&) = delete;

  // data()[size()] is NUL.
  [[nodiscard]] std::string_view view() const noexcept { return text_; }

 private:
  std::string text_;
};

}  // namespace weft::json::detail
