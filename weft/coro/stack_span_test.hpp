// How much stack calls used that should have used none: for tests of symmetric transfer.
//
//   stack_span stack;
//   ... stack.note() in each coroutine ...
//   EXPECT_LT(stack.bytes(), stack_span::some_frames_bytes);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weft {

/// How far apart the stack pointers of the calls were.
class stack_span {
 public:
  /// More than a few calls take, sanitizers' red zones included; less than a hundred leave behind.
  static constexpr std::size_t some_frames_bytes = 16 * 1024;

  [[gnu::noinline]] void note() noexcept {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    lowest_ = std::min(lowest_, here);
    highest_ = std::max(highest_, here);
    ++notes_;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return highest_ - lowest_; }
  [[nodiscard]] std::size_t notes() const noexcept { return notes_; }

 private:
  std::uintptr_t lowest_ = UINTPTR_MAX;
  std::uintptr_t highest_ = 0;
  std::size_t notes_ = 0;
};

}  // namespace weft
