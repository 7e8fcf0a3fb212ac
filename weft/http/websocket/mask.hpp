// The masking of what clients send (RFC 6455 section 5.3).
//
// Contract: internal to http. Byte i of a payload is combined with byte i % 4 of the key; `at` is
// where in its payload the first of `bytes` stands. Doing it twice undoes it. 16 bytes at a time,
// and no instruction that not every x86-64 has.
//
//   apply_mask(payload, head.key, 0);
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace weft::http::ws {

/// `from` and `to` are one or apart; as many bytes as `from` has.
inline void copy_masked(char* to, std::string_view from, std::uint32_t key,
                        std::size_t at) noexcept {
  constexpr int byte_bits = 8;
  const int turn = static_cast<int>(at % sizeof key) * byte_bits;
  key = std::endian::native == std::endian::little ? std::rotr(key, turn) : std::rotl(key, turn);
  const std::uint64_t pair = (std::uint64_t{key} << 32U) | key;
  const char* in = from.data();
  std::size_t left = from.size();
  for (; left >= 2 * sizeof pair; left -= 2 * sizeof pair) {
    std::uint64_t words[2];
    std::memcpy(words, in, sizeof words);
    words[0] ^= pair;
    words[1] ^= pair;
    std::memcpy(to, words, sizeof words);
    in += sizeof words;
    to += sizeof words;
  }
  char bytes[sizeof key];
  std::memcpy(bytes, &key, sizeof key);
  for (std::size_t i = 0; i != left; ++i) to[i] = static_cast<char>(in[i] ^ bytes[i % sizeof key]);
}

inline void apply_mask(std::span<char> bytes, std::uint32_t key, std::size_t at) noexcept {
  copy_masked(bytes.data(), {bytes.data(), bytes.size()}, key, at);
}

}  // namespace weft::http::ws
