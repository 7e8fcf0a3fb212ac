// What is ready to run, in bands of priority: first in, first out within a band, the most urgent
// band first.
//
// Contract: push and pop cost O(1) whatever the length, and never allocate: the links are in the
// items. Who wants to see what else an order may do pops by dice (shuffle.hpp), and then always.
// Whatever the order, who gives way comes after all that stood there when it was pushed. One shard.
//
//   queue.push(item, priority::normal);
//   while (runnable* next = queue.pop()) next->run(*next);
#pragma once

#include <array>
#include <bit>
#include <coroutine>
#include <cstdint>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/base/random.hpp>
#include <weft/coro/runnable.hpp>

namespace weft {

/// A coroutine that lets all others have their turn; the queue knows it by its function.
struct giving_way : runnable {
  giving_way() noexcept : runnable{&go_on} {}
  static void go_on(runnable& self) noexcept;
  std::coroutine_handle<> waiting;
};

class ready_queue {
 public:
  void push(runnable& item, priority band) noexcept {
    const auto index = static_cast<unsigned>(band);
    const bool is_first = (occupied_ & bit_of(index)) == 0;
    WEFT_DEBUG_ASSERT(item.next == nullptr && (is_first || tails_[index] != &item.next),
                      "the item is in the ready queue already");
    if (is_first)
      heads_[index] = &item;
    else
      *tails_[index] = &item;
    tails_[index] = &item.next;
    occupied_ |= bit_of(index);
  }

  /// The oldest item of the most urgent band that has one; nullptr if there is none.
  [[nodiscard]] runnable* pop() noexcept {
    if (occupied_ == 0) return nullptr;
    const unsigned index = most_urgent();
    return take(index, heads_[index]);
  }

  /// As pop(), but in rounds: some of the first of the band, in any order, before those that have
  /// come since the round began. So any two that wait may change places, and none is overtaken by
  /// more than a round.
  [[nodiscard]] runnable* pop_any(random& dice) noexcept {
    if (occupied_ == 0) return nullptr;
    const unsigned index = most_urgent();
    unsigned& left = left_in_round_[index];
    if (left == 0) left = size_of_round(index, 1U << dice.below(round_sizes));
    runnable** link = &heads_[index];
    for (auto skipped = dice.below(left--); skipped > 0; --skipped) link = &(*link)->next;
    if ((*link)->next == nullptr) tails_[index] = link;
    return take(index, *link);
  }

  /// The oldest item of `band`, which has one, though more urgent ones may be ready.
  [[nodiscard]] runnable* pop_from(priority band) noexcept {
    const auto index = static_cast<unsigned>(band);
    if (left_in_round_[index] != 0) --left_in_round_[index];
    return take(index, heads_[index]);
  }

  [[nodiscard]] bool empty() const noexcept { return occupied_ == 0; }
  /// Of normal priority or more urgent.
  [[nodiscard]] bool has_urgent() const noexcept {
    return (occupied_ & ((1U << static_cast<unsigned>(priority::low)) - 1U)) != 0;
  }
  [[nodiscard]] bool has(priority band) const noexcept {
    return (occupied_ & bit_of(static_cast<unsigned>(band))) != 0;
  }

  ready_queue() noexcept = default;
  ~ready_queue() { WEFT_DEBUG_ASSERT(empty(), "run what is ready before its queue ends"); }
  ready_queue(const ready_queue&) = delete;
  ready_queue& operator=(const ready_queue&) = delete;

 private:
  static constexpr unsigned round_sizes = 7;  // 1, 2, 4 and so on to 64

  [[nodiscard]] static std::uint8_t bit_of(unsigned index) noexcept {
    return static_cast<std::uint8_t>(1U << index);
  }
  [[nodiscard]] unsigned most_urgent() const noexcept {
    return static_cast<unsigned>(std::countr_zero(occupied_));
  }

  /// Takes out what `link`, of the band, leads to.
  runnable* take(unsigned index, runnable*& link) noexcept {
    runnable* const item = link;
    if (item->next != nullptr)
      link = std::exchange(item->next, nullptr);
    else if (item == heads_[index])  // the only one
      occupied_ &= static_cast<std::uint8_t>(~bit_of(index));
    else
      link = nullptr;
    return item;
  }

  /// At most `most`, and none behind one that gives way to those before it.
  [[nodiscard]] unsigned size_of_round(unsigned index, unsigned most) const noexcept {
    unsigned size = 1;
    for (const runnable* next = heads_[index]->next;
         size < most && next != nullptr && next->run != &giving_way::go_on; next = next->next)
      ++size;
    return size;
  }

  // One byte, for compilers set a bit by a store of one byte: a wider load right after it would
  // have to wait until the store has left for the cache.
  std::uint8_t occupied_ = 0;
  std::array<runnable*, priority_count> heads_{};  // of bands that are occupied
  std::array<runnable**, priority_count> tails_{};
  std::array<unsigned, priority_count> left_in_round_{};  // of those that pop_any() gives
};

}  // namespace weft
