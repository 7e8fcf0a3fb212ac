// Pointers from one shard to another, first in, first out: the bounded queue of one producer and
// one consumer.
//
// Problem: what two threads write must not share a cache line with what the other reads all the
// time. Contract: push() and the destructor are one thread's, pop() and release() another's; each
// side keeps what it last saw of the other's index and looks again only when that says full or
// empty. What pop() has given takes up room until release(). A push() that finds the ring full
// leaves word, and the release() that makes room says that the producer is to be told. The order of
// the producer's word and its last look is sequentially consistent on both sides, so that neither
// is missed.
//
//   if (!ring.push(&message)) waiting.push_back(message);
//   while (message* next = ring.pop()) deliver(*next);
//   if (ring.release()) tell_the_producer();
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <weft/base/assert.hpp>

namespace weft {

struct message;

class message_ring {
 public:
  /// `capacity`: a power of two.
  explicit message_ring(std::uint32_t capacity)
      : capacity_{capacity}, slots_{std::make_unique<message*[]>(capacity)} {
    WEFT_ASSERT(capacity != 0 && (capacity & (capacity - 1)) == 0, "a ring's size is a power of 2");
  }

  /// False: full. The producer.
  [[nodiscard]] bool push(message* item) noexcept {
    const std::uint32_t at = pushed_.load(std::memory_order_relaxed);
    if (at - released_seen_ == capacity_ && !finds_room(at)) return false;
    slots_[at & (capacity_ - 1)] = item;
    pushed_.store(at + 1, std::memory_order_release);
    return true;
  }

  /// nullptr: empty. The consumer.
  [[nodiscard]] message* pop() noexcept {
    if (popped_ == pushed_seen_) {
      pushed_seen_ = pushed_.load(std::memory_order_acquire);
      if (popped_ == pushed_seen_) return nullptr;
    }
    return slots_[popped_++ & (capacity_ - 1)];
  }

  /// Makes room of what has been popped. True: the producer waits for it. The consumer.
  [[nodiscard]] bool release() noexcept {
    if (released_.load(std::memory_order_relaxed) == popped_) return false;
    released_.store(popped_);
    return wants_room_.load() && wants_room_.exchange(false);
  }

 private:
  [[nodiscard]] bool finds_room(std::uint32_t at) noexcept {
    released_seen_ = released_.load(std::memory_order_acquire);
    if (at - released_seen_ != capacity_) return true;
    wants_room_.store(true);
    released_seen_ = released_.load();
    return at - released_seen_ != capacity_;
  }

  const std::uint32_t capacity_;
  const std::unique_ptr<message*[]> slots_;
  // The producer's line.
  alignas(64) std::atomic<std::uint32_t> pushed_{0};
  std::uint32_t released_seen_ = 0;
  std::atomic<bool> wants_room_{false};
  // The consumer's line.
  alignas(64) std::atomic<std::uint32_t> released_{0};
  std::uint32_t popped_ = 0;
  std::uint32_t pushed_seen_ = 0;
};

}  // namespace weft
