// How a loop learns that another thread has something for it, and how that thread learns whether
// the loop must be woken.
//
// Problem: a wake-up is a system call, so it is made only for a loop that sleeps; and none may be
// lost between the loop's last look and its sleep. Contract: whoever has put something where the
// loop will look rings, with the bit of the place. ring() says whether to wake the loop, which it
// says to one ringer a sleep. The loop announces its sleep, and looks once more. Both sides are
// sequentially consistent: either the ringer sees the sleeper, or the sleeper sees the bit
// (Dekker's handshake). ring() is for any thread, all else for the loop's.
//
//   if (bell.ring(doorbell::letters)) backend.wake();
//   if (bell.prepare_to_sleep()) sleep();
//   bell.woke_up();
#pragma once

#include <atomic>
#include <cstdint>

namespace weft {

class alignas(64) doorbell {
 public:
  using bits = std::uint64_t;
  /// Other shards of the mesh; those 62 apart share one.
  static constexpr unsigned peer_bits = 62;
  static constexpr bits peers = (bits{1} << peer_bits) - 1;
  static constexpr bits stop = bits{1} << 62;
  static constexpr bits letters = bits{1} << 63;

  [[nodiscard]] static constexpr bits of_peer(unsigned shard) noexcept {
    return bits{1} << (shard % peer_bits);
  }

  /// Any thread. True: the caller wakes the loop.
  [[nodiscard]] bool ring(bits place) noexcept {
    rung_.fetch_or(place);
    return sleeping_.load() && sleeping_.exchange(false);
  }

  [[nodiscard]] bool rung(bits places) const noexcept {
    return (rung_.load(std::memory_order_relaxed) & places) != 0;
  }
  /// Which of `places` have rung since they were last taken.
  [[nodiscard]] bits take(bits places) noexcept {
    return rung_.fetch_and(~places, std::memory_order_acquire) & places;
  }

  /// False: somebody has rung, so the loop must not sleep.
  [[nodiscard]] bool prepare_to_sleep() noexcept {
    sleeping_.store(true);
    if (rung_.load() == 0) return true;
    woke_up();
    return false;
  }
  void woke_up() noexcept { sleeping_.store(false, std::memory_order_relaxed); }

 private:
  std::atomic<bits> rung_{0};
  std::atomic<bool> sleeping_{false};
};

}  // namespace weft
