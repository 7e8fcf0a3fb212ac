// Text looked at eight bytes at a time. Inside of weft/json.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::json::detail {

inline constexpr std::uint64_t each_byte = 0x0101010101010101;
inline constexpr std::uint64_t high_bits = 0x80 * each_byte;

/// The eight bytes at `at`, the first one lowest.
inline std::uint64_t word_at(const char* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = std::byteswap(word);
  return word;
}

/// Bit 7 of each byte that ends a run of plain characters: a quote, a backslash, a control
/// character. Exact up to the first one, in the order of memory.
constexpr std::uint64_t not_plain(std::uint64_t word) noexcept {
  const auto zeros = [](std::uint64_t w) { return (w - each_byte) & ~w & high_bits; };
  const std::uint64_t controls = (word - 0x20 * each_byte) & ~word & high_bits;
  return zeros(word ^ '"' * each_byte) | zeros(word ^ '\\' * each_byte) | controls;
}

}  // namespace weft::json::detail
