// Text that is there for ever.
//
// Problem: an object that keeps a std::string_view of its options reads it when the text may be
// gone. Contract: a view that only a string literal converts to, when compiling.
//
//   struct task_options { literal_text name{}; };
//   periodic clock{loop, {.name = "control"}};
#pragma once

#include <string_view>

namespace weft {

class literal_text {
 public:
  constexpr literal_text() noexcept = default;
  consteval literal_text(const char* literal) : text_{literal} {}
  [[nodiscard]] constexpr operator std::string_view() const noexcept { return text_; }

 private:
  std::string_view text_;
};

}  // namespace weft
