// Random numbers that a seed decides, everywhere and for ever.
//
// Problem: a simulation that fails must be replayed on another machine, but the standard leaves the
// results of its distributions to each library. Contract: one seed gives one sequence on every
// platform, compiler and release of weft: the numbers are part of the interface, and a golden test
// holds them. Fast and well spread, but predictable: never for keys, tokens or hash seeds that a
// peer must not guess. Each call to below(), between() or chance() draws at least one number.
// Single thread; copying forks the sequence. Source: D. Blackman, S. Vigna, "Scrambled linear
// pseudorandom number generators" (2021): xoshiro256++, its state filled by SplitMix64; bounds by
// D. Lemire, "Fast random integer generation in an interval" (2019).
//
//   weft::random random(seed);
//   if (random.chance(1, 100)) drop(packet);
//   auto delay_ms = random.between(1, 20);
#pragma once

#include <weft/base/assert.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft {

class random {
 public:
  // Any seed is good, 0 too.
  explicit random(std::uint64_t seed) noexcept;

  // All 64 bits are random.
  std::uint64_t next() noexcept;

  // Uniform in [0, limit). `limit` must not be 0.
  std::uint64_t below(std::uint64_t limit) noexcept;

  // Uniform in [low, high], both included.
  template <std::integral T>
  T between(T low, T high) noexcept {
    WEFT_ASSERT(low <= high, "the range is empty");
    const std::uint64_t start = static_cast<std::uint64_t>(low);
    const std::uint64_t width =
        static_cast<std::uint64_t>(high) - start;  // right for negative ones too
    const std::uint64_t drawn = start + (width == UINT64_MAX ? next() : below(width + 1));
    return static_cast<T>(drawn);
  }

  // True with the probability numerator / denominator, which lies in [0, 1].
  bool chance(std::uint64_t numerator, std::uint64_t denominator) noexcept;

  // Fills all bytes: eight per number, low byte first, a last number for the rest.
  void fill(std::span<std::byte> bytes) noexcept;

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace weft
