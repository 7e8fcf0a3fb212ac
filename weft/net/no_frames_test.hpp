// For tests of what remains where the frame pool gives nothing.
//
// Contract: while one lives, and testing::allocation_failure is available, the next frame of
// `least_bytes` to `most_bytes` that this thread asks for is refused; smaller ones that it has
// freed are there. One at a time.
//
//   const no_frames none;
//   EXPECT_FALSE((co_await stream.write("lost")).has_value());
#pragma once

#include <cstddef>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <weft/coro/frame_pool.hpp>
#include <weft/testing/allocation_failure.hpp>

namespace weft::net {

class no_frames {
 public:
  /// Takes all that the pool has, by size, so that it must ask for another slab.
  explicit no_frames(std::size_t least_bytes = step_bytes, std::size_t most_bytes = 512) {
    blocks_.reserve(1'000'000);
    for (std::size_t each = most_bytes; each >= least_bytes; each -= step_bytes) take_all(each);
    refused_.emplace(slab_bytes);
  }
  no_frames(const no_frames&) = delete;
  no_frames& operator=(const no_frames&) = delete;
  ~no_frames() {
    for (const auto& [block, size_bytes] : blocks_) frame_pool::deallocate(block, size_bytes);
  }

 private:
  static constexpr std::size_t step_bytes = 16;
  static constexpr std::size_t slab_bytes = 64 * 1024;

  void take_all(std::size_t each_bytes) {
    const testing::allocation_failure no_more{slab_bytes};
    try {
      for (;;) blocks_.emplace_back(frame_pool::allocate(each_bytes), each_bytes);
    } catch (const std::bad_alloc&) {}
  }

  std::vector<std::pair<void*, std::size_t>> blocks_;
  std::optional<testing::allocation_failure> refused_;
};

}  // namespace weft::net
