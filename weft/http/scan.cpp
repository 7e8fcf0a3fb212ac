// The variants of a long scan, and which of them this CPU gets.
#include <weft/http/scan.hpp>

#include <bit>

#include <weft/base/assert.hpp>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace weft::http::scan {
namespace {

using detail::long_skip;

/// `skip` of the set that is named at run time.
template <template <set> class Skip>
std::size_t by_set(set of, const char* text, std::size_t at, std::size_t end) {
  switch (of) {
    case set::token: return Skip<set::token>::run(text, at, end);
    case set::path: return Skip<set::path>::run(text, at, end);
    case set::query: return Skip<set::query>::run(text, at, end);
    case set::uri: return Skip<set::uri>::run(text, at, end);
    case set::field: return Skip<set::field>::run(text, at, end);
    case set::host: return Skip<set::host>::run(text, at, end);
    case set::target: return Skip<set::target>::run(text, at, end);
  }
  return at;
}

template <set Set>
struct scalar_skip {
  static std::size_t run(const char* text, std::size_t at, std::size_t end) noexcept {
    return skip_scalar<Set>(text, at, end);
  }
};

#ifdef __SSE2__

template <set Set>
struct sse2_skip {
  static std::size_t run(const char* text, std::size_t at, std::size_t end) noexcept {
    while (at + 16 <= end) {
      const unsigned uncommon = detail::uncommon16<Set>(text + at);
      if (uncommon == 0) {
        at += 16;
        continue;
      }
      at += static_cast<unsigned>(std::countr_zero(uncommon));
      if (!contains<Set>(text[at])) return at;
      ++at;
    }
    return skip_scalar<Set>(text, at, end);
  }
};

/// A set as two tables of 16, one for each half of a byte: it is in the set if the two entries have
/// a bit in common. Bytes whose upper half has the same row of 16 share a bit; no set has more than
/// eight such rows.
struct nibble_tables {
  std::array<std::uint8_t, 16> lower{};
  std::array<std::uint8_t, 16> upper{};
};

template <set Set>
constexpr nibble_tables make_nibble_tables() {
  nibble_tables tables;
  std::array<unsigned, 16> rows{};
  unsigned next_bit = 1;
  for (unsigned high = 0; high < 16; ++high) {
    for (unsigned low = 0; low < 16; ++low)
      if (contains<Set>(static_cast<char>(high << 4 | low))) rows[high] |= 1u << low;
    if (rows[high] == 0) continue;
    for (unsigned before = 0; before < high; ++before)
      if (rows[before] == rows[high]) tables.upper[high] = tables.upper[before];
    if (tables.upper[high] != 0) continue;
    if (next_bit > 0x80) throw "a set has more kinds of rows than a byte has bits";
    tables.upper[high] = static_cast<std::uint8_t>(next_bit);
    for (unsigned low = 0; low < 16; ++low)
      if ((rows[high] >> low & 1u) != 0)
        tables.lower[low] = static_cast<std::uint8_t>(tables.lower[low] | next_bit);
    next_bit <<= 1;
  }
  return tables;
}

template <set Set>
struct avx2_skip {
  [[gnu::target("avx2")]] static std::size_t run(const char* text, std::size_t at,
                                                 std::size_t end) noexcept {
    alignas(16) static constexpr nibble_tables tables = make_nibble_tables<Set>();
    const __m256i lower = _mm256_broadcastsi128_si256(
        _mm_load_si128(reinterpret_cast<const __m128i*>(tables.lower.data())));
    const __m256i upper = _mm256_broadcastsi128_si256(
        _mm_load_si128(reinterpret_cast<const __m128i*>(tables.upper.data())));
    const __m256i half = _mm256_set1_epi8(0x0f);
    for (; at + 32 <= end; at += 32) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at));
      const __m256i low = _mm256_and_si256(bytes, half);
      const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
      const __m256i in =
          _mm256_and_si256(_mm256_shuffle_epi8(lower, low), _mm256_shuffle_epi8(upper, high));
      const auto outside = static_cast<unsigned>(
          _mm256_movemask_epi8(_mm256_cmpeq_epi8(in, _mm256_setzero_si256())));
      if (outside != 0) return at + static_cast<unsigned>(std::countr_zero(outside));
    }
    return sse2_skip<Set>::run(text, at, end);
  }
};

constexpr std::array known = {variant::scalar, variant::sse2, variant::avx2};
constexpr std::array<long_skip, 3> skips = {&by_set<scalar_skip>, &by_set<sse2_skip>,
                                            &by_set<avx2_skip>};
constexpr std::size_t always_there = 2;

std::size_t count_variants() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0 ? 3 : 2;
}

#else

constexpr std::array known = {variant::scalar};
constexpr std::array<long_skip, 1> skips = {&by_set<scalar_skip>};
constexpr std::size_t always_there = 1;

std::size_t count_variants() noexcept { return always_there; }

#endif

}  // namespace

// Right from the first instruction on, whichever file's variables are made first; then the best.
constinit long_skip detail::skip_long = skips[always_there - 1];

namespace {

[[maybe_unused]] const bool chosen = [] {
  use(variants().back());
  return true;
}();

}  // namespace

std::span<const variant> variants() noexcept { return std::span{known}.first(count_variants()); }

variant in_use() noexcept {
  std::size_t found = 0;
  while (skips[found] != detail::skip_long) ++found;
  return known[found];
}

void use(variant which) noexcept {
  WEFT_ASSERT(static_cast<std::size_t>(which) < variants().size(), "not on this CPU");
  detail::skip_long = skips[static_cast<std::size_t>(which)];
}

std::size_t skip_by(variant which, set of, const char* text, std::size_t at,
                    std::size_t end) noexcept {
  WEFT_ASSERT(static_cast<std::size_t>(which) < variants().size(), "not on this CPU");
  return skips[static_cast<std::size_t>(which)](of, text, at, end);
}

}  // namespace weft::http::scan
