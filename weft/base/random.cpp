#include <weft/base/random.hpp>

#include <algorithm>
#include <bit>

namespace weft {

namespace {

__extension__ using wide = unsigned __int128;

std::uint64_t split_mix(std::uint64_t& state) noexcept {
  state += 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

// Four outputs of SplitMix64 in a row differ, so the state is never all zero, the one that must not
// be.
random::random(std::uint64_t seed) noexcept {
  for (std::uint64_t& word : state_) word = split_mix(seed);
}

std::uint64_t random::next() noexcept {
  auto& [a, b, c, d] = state_;
  const std::uint64_t result = std::rotl(a + d, 23) + a;
  const std::uint64_t shifted = b << 17;
  c ^= a;
  d ^= b;
  b ^= c;
  a ^= d;
  c ^= shifted;
  d = std::rotl(d, 45);
  return result;
}

// The high half of number * limit is nearly uniform below limit. It is exactly so once the products
// whose low half falls in the first 2^64 mod limit values are drawn again; a division is needed
// only when one might.
std::uint64_t random::below(std::uint64_t limit) noexcept {
  WEFT_ASSERT(limit > 0, "there is no number below 0");
  wide product = static_cast<wide>(next()) * limit;
  if (static_cast<std::uint64_t>(product) < limit) {
    const std::uint64_t excess = (0 - limit) % limit;
    while (static_cast<std::uint64_t>(product) < excess) {
      product = static_cast<wide>(next()) * limit;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

bool random::chance(std::uint64_t numerator, std::uint64_t denominator) noexcept {
  WEFT_ASSERT(numerator <= denominator, "a probability is at most 1");
  return below(denominator) < numerator;
}

void random::fill(std::span<std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    std::uint64_t number = next();
    const std::size_t count = std::min(bytes.size(), sizeof(number));
    for (std::byte& byte : bytes.first(count)) {
      byte = static_cast<std::byte>(number);
      number >>= 8;
    }
    bytes = bytes.subspan(count);
  }
}

}  // namespace weft
