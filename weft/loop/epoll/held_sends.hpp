// Sends that wait for the next ones of their turn.
//
// Problem: a client that shares the machine, and has been answered, sleeps until its next answer;
// waking it costs the server up to a microsecond, again for each answer that leaves by itself.
// Several that leave together wake it once. Contract: at most `size_max` wait, so that what is to
// be sent is still in the processor's caches, and they wait until their turn ends at the latest.
//
//   if (held.push(op)) for (send_operation* each : held.take()) ...
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include <weft/loop/operation.hpp>

namespace weft {

class held_sends {
 public:
  static constexpr std::size_t size_max = 16;

  /// Whether there is no room for another one.
  [[nodiscard]] bool push(send_operation& op) noexcept {
    all_[count_++] = &op;
    return count_ == size_max;
  }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::span<send_operation* const> all() const noexcept {
    return std::span{all_}.first(count_);
  }
  /// All of them, until the next push(); none is left.
  [[nodiscard]] std::span<send_operation* const> take() noexcept {
    return std::span{all_}.first(std::exchange(count_, 0));
  }

 private:
  std::array<send_operation*, size_max> all_;
  std::size_t count_ = 0;
};

}  // namespace weft
