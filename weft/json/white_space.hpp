// Runs of white space, eight bytes at a time.
//
// Problem: half of an indented document are spaces, which glaze passes one by one: a third of the
// time to read it. Contract: inside of weft/json. glaze calls skip_ws() of whatever namespace its
// context is of, so that who reads with read_context has this one; it does what glaze's does, for
// texts that a NUL follows.
#pragma once

#include <weft/json/read_context.hpp>
#include <weft/json/words.hpp>

#include <glaze/core/context.hpp>
#include <glaze/util/parse.hpp>

#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace weft::json::detail {

constexpr bool is_white_space(char c) noexcept {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Where a run of spaces ends that begins at `at`, or shortly before the end of the text.
[[gnu::always_inline]] inline const char* skip_spaces(const char* at, const char* end) noexcept {
#if defined(__SSE2__)
  for (const __m128i spaces = _mm_set1_epi8(' '); end - at >= 16; at += 16) {
    const __m128i found = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto others =
        ~static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(found, spaces)));
    const int count = std::countr_zero(others);
    if (count < 16) return at + count;
  }
#else
  for (; end - at >= 8; at += 8) {
    const std::uint64_t others = word_at(at) ^ ' ' * each_byte;
    if (others != 0) return at + std::countr_zero(others) / 8;
  }
#endif
  return at;
}

/// False, as glaze's: there is nothing that it could refuse.
template <glz::ws_opts Options>
  requires(Options.null_terminated && !Options.comments && !Options.minified)
[[gnu::always_inline]] inline bool skip_ws(read_context&, const char*& at,
                                           const char* end) noexcept {
  while (static_cast<unsigned char>(*at) <= ' ') {
    if (!is_white_space(*at)) break;
    ++at;
    if (*at == ' ') at = skip_spaces(at, end);
  }
  return false;
}

}  // namespace weft::json::detail
