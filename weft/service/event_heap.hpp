// Internal: cells of events by the time they are due, the earliest first.
//
// Contract: claim(), write, commit(), as with event_ring; O(log n). Events due at the same time
// come in the order of their coming. What take() gives has left the heap and is the caller's, to be
// given back by free(). Cells come from the shard's frame pool. One shard.
//
//   std::byte* cell = heap.claim(bytes);      // nullptr: no memory
//   heap.commit(due, cell, bytes);
//   event_heap::item next = heap.take();
//   heap.free(next);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include <weft/base/time.hpp>
#include <weft/coro/frame_pool.hpp>

namespace weft {

class event_heap {
 public:
  struct item {
    time_point due;
    std::uint64_t number;
    std::byte* cell;
    std::size_t bytes;
  };

  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }

  [[nodiscard]] std::byte* claim(std::size_t bytes) noexcept {
    try {
      if (items_.size() == items_.capacity()) items_.reserve(2 * items_.size() + 16);
      return static_cast<std::byte*>(frame_pool::allocate(bytes));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  void commit(time_point due, std::byte* cell, std::size_t bytes) noexcept {
    items_.push_back({.due = due, .number = pushed_++, .cell = cell, .bytes = bytes});
    std::ranges::push_heap(items_, is_later);
  }

  [[nodiscard]] item take() noexcept {
    std::ranges::pop_heap(items_, is_later);
    const item earliest = items_.back();
    items_.pop_back();
    return earliest;
  }
  static void free(const item& taken) noexcept { frame_pool::deallocate(taken.cell, taken.bytes); }

 private:
  static bool is_later(const item& a, const item& b) noexcept {
    return a.due != b.due ? a.due > b.due : a.number > b.number;
  }

  std::vector<item> items_;
  std::uint64_t pushed_ = 0;
};

}  // namespace weft
