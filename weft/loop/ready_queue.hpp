// What is ready to run, in bands of priority: first in, first out within a band, the most urgent
// band first.
//
// Contract: push and pop cost O(1) whatever the length, and never allocate: the links are in the
// items. Who wants to see what else an order may do pops by dice (shuffle.hpp). One shard.
//
//   queue.push(item, priority::normal);
//   while (runnable* next = queue.pop()) next->run(*next);
#pragma once

#include <array>
#include <bit>
#include <utility>

#include <weft/base/random.hpp>
#include <weft/coro/runnable.hpp>

namespace weft {

class ready_queue {
 public:
  void push(runnable& item, priority band) noexcept {
    const auto index = static_cast<unsigned>(band);
    item.next = nullptr;
    *tails_[index] = &item;
    tails_[index] = &item.next;
    occupied_ |= 1U << index;
  }

  /// The oldest item of the most urgent band that has one; nullptr if there is none.
  [[nodiscard]] runnable* pop() noexcept {
    if (occupied_ == 0) return nullptr;
    const auto index = static_cast<unsigned>(std::countr_zero(occupied_));
    runnable* item = heads_[index];
    heads_[index] = std::exchange(item->next, nullptr);
    if (heads_[index] == nullptr) {
      tails_[index] = &heads_[index];
      occupied_ &= ~(1U << index);
    }
    return item;
  }

  /// As pop(), but any of the first `reach` of the most urgent band may be the one; those before it
  /// go behind the others. Whatever waits comes, and any two may come in either order.
  [[nodiscard]] runnable* pop_any(random& dice) noexcept {
    if (occupied_ == 0) return nullptr;
    const auto index = static_cast<unsigned>(std::countr_zero(occupied_));
    for (auto skipped = dice.below(reach); skipped > 0; --skipped) move_first_to_back(index);
    return pop();
  }

  [[nodiscard]] bool empty() const noexcept { return occupied_ == 0; }

  ready_queue() noexcept {
    for (unsigned i = 0; i < priority_count; ++i) tails_[i] = &heads_[i];
  }
  ready_queue(const ready_queue&) = delete;
  ready_queue& operator=(const ready_queue&) = delete;

 private:
  static constexpr unsigned reach = 8;

  void move_first_to_back(unsigned index) noexcept {
    runnable* const first = heads_[index];
    if (first->next == nullptr) return;
    heads_[index] = std::exchange(first->next, nullptr);
    *tails_[index] = first;
    tails_[index] = &first->next;
  }

  unsigned occupied_ = 0;
  std::array<runnable*, priority_count> heads_{};
  std::array<runnable**, priority_count> tails_{};
};

}  // namespace weft
