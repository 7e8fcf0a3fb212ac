// A hash that strangers cannot steer: SipHash-2-4 (Aumasson and Bernstein, 2012).
//
// Contract: pure; with a secret that nobody knows, nobody can choose texts that collide. Private to
// weft/http's sources.
//
//   siphash("key", secret);
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::http {

[[nodiscard]] constexpr std::uint64_t siphash(std::string_view text,
                                              const std::array<std::uint64_t, 2>& secret) noexcept {
  std::array<std::uint64_t, 4> v = {
      secret[0] ^ 0x736f6d6570736575u, secret[1] ^ 0x646f72616e646f6du,
      secret[0] ^ 0x6c7967656e657261u, secret[1] ^ 0x7465646279746573u};
  const auto rounds = [&v](int count) {
    for (; count > 0; --count) {
      v[0] += v[1];
      v[2] += v[3];
      v[1] = std::rotl(v[1], 13) ^ v[0];
      v[3] = std::rotl(v[3], 16) ^ v[2];
      v[0] = std::rotl(v[0], 32) + v[3];
      v[2] += v[1];
      v[3] = std::rotl(v[3], 21) ^ v[0];
      v[1] = std::rotl(v[1], 17) ^ v[2];
      v[2] = std::rotl(v[2], 32);
    }
  };
  const auto take = [&v, &rounds](std::uint64_t word) {
    v[3] ^= word;
    rounds(2);
    v[0] ^= word;
  };
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    word |= std::uint64_t{static_cast<unsigned char>(text[i])} << i % 8 * 8;
    if (i % 8 != 7) continue;
    take(word);
    word = 0;
  }
  take(word | static_cast<std::uint64_t>(text.size()) << 56);
  v[2] ^= 0xff;
  rounds(4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

}  // namespace weft::http
