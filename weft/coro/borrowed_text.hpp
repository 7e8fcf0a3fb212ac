// Text that a borrowing_task reads, and its caller keeps.
//
// Problem: Clang does not see that a std::string_view parameter refers to a temporary string.
// Contract: a view of any text, taken from the argument itself. In a parameter that is marked
// WEFT_LIFETIME_BOUND, Clang warns where the returned task outlives a text that owns its memory.
//
//   borrowing_task<result<void>> write(borrowed_text text WEFT_LIFETIME_BOUND);
#pragma once

#include <concepts>
#include <string_view>

#include <weft/base/lifetime_bound.hpp>

namespace weft {

class borrowed_text {
 public:
  template <class Text>
    requires std::convertible_to<const Text&, std::string_view>
  borrowed_text(const Text& text WEFT_LIFETIME_BOUND) noexcept : text_{text} {}
  // Nobody knows what these refer to.
  borrowed_text(std::string_view text) noexcept : text_{text} {}
  borrowed_text(const char* text) noexcept : text_{text} {}

  [[nodiscard]] std::string_view view() const noexcept { return text_; }

 private:
  std::string_view text_;
};

}  // namespace weft
