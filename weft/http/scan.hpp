// Finding the next byte that matters.
//
// Problem: most bytes of a head only need to be known as harmless; looking at them one by one is
// most of the cost of parsing. Contract: skip<set>(text, at, end) returns the index of the first
// byte of text[at, end) outside the set, or `end`; it never reads outside [at, end). skip_scalar is
// the same by definition, one byte at a time, and the reference for the tests.
//
// Most runs are short, and a call costs more than it saves there: so the first blocks of 16 bytes
// are compared inline, with SSE2, which all x86-64 has. Its comparisons pass over the common bytes
// of a set, and the byte they stop at is asked in the table, so their approximation can cost time
// but never change the answer. Only what is left after inline_blocks goes through a pointer, to the
// variant that was chosen for this CPU before main(); it looks each byte up exactly. Without SSE2
// all is scalar.
//
// Private to weft/http's sources.
//
//   std::size_t colon = scan::skip<scan::set::token>(text, at, end);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weft::http::scan {

enum class set : std::uint8_t {
  token = 1,   // tchar (RFC 9110 section 5.6.2): methods, field names
  path = 2,    // pchar and "/" (RFC 3986 section 3.3) without "%" and ".", which need a closer look
  query = 4,   // all that may stand in a query that is received, without "%"
  uri = 8,     // any character of a URI but "#", "[" and "]": what a path and a query consist of
  field = 16,  // field-value with its inner white space (RFC 9110 section 5.5): HTAB, SP, VCHAR,
               // obs-text
  host = 32,   // reg-name (RFC 3986 section 3.2.2) without "%"
  target = 64,  // all that may stand in a target that is received: anything but control characters,
                // the space and "#"
};

namespace detail {

inline constexpr std::string_view alphanumeric =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
inline constexpr std::string_view sub_delims = "!$&'()*+,;=";

constexpr std::array<std::uint8_t, 256> make_table() {
  std::array<std::uint8_t, 256> table{};
  const auto add = [&table](set to, std::string_view bytes) {
    for (char c : bytes) {
      std::uint8_t& sets = table[static_cast<unsigned char>(c)];
      sets = static_cast<std::uint8_t>(sets | static_cast<unsigned>(to));
    }
  };
  add(set::token, alphanumeric);
  add(set::token, "!#$%&'*+-.^_`|~");
  for (set each : {set::path, set::uri, set::host}) {
    add(each, alphanumeric);
    add(each, sub_delims);
    add(each, "-_~");
  }
  add(set::path, ":@/");
  add(set::uri, ":@/.?%");
  add(set::host, ".");
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool is_visible = byte > 0x20 && byte != 0x7f;
    if (is_visible || c == ' ' || c == '\t') add(set::field, {&c, 1});
    if (is_visible && c != '#') add(set::target, {&c, 1});
    if (is_visible && c != '#' && c != '%') add(set::query, {&c, 1});
  }
  return table;
}

inline constexpr std::array<std::uint8_t, 256> table = make_table();

#ifdef __SSE2__

using bytes16 = __m128i;

inline bytes16 each(int byte) noexcept { return _mm_set1_epi8(static_cast<char>(byte)); }
inline bytes16 equal(bytes16 bytes, char to) noexcept { return _mm_cmpeq_epi8(bytes, each(to)); }
inline bytes16 either(bytes16 a, bytes16 b) noexcept { return _mm_or_si128(a, b); }
inline bytes16 both(bytes16 a, bytes16 b) noexcept { return _mm_and_si128(a, b); }
inline bytes16 but_not(bytes16 a, bytes16 b) noexcept { return _mm_andnot_si128(b, a); }
// byte < first or last < byte, unsigned. SSE2 only has a signed comparison: moved to begin at the
// least signed value, the range is all up to its own length.
inline bytes16 outside(bytes16 bytes, int first, int last) noexcept {
  return _mm_cmpgt_epi8(_mm_add_epi8(bytes, each(0x80 - first)), each(0x80 + last - first));
}
inline bytes16 no_letters(bytes16 bytes) noexcept {
  return outside(either(bytes, each(0x20)), 'a', 'z');
}

// All but the bytes of a set that real requests consist of; always every byte outside it.
template <set Set>
bytes16 uncommon(bytes16 bytes) noexcept {
  if constexpr (Set == set::token) {
    return but_not(no_letters(bytes), equal(bytes, '-'));
  } else if constexpr (Set == set::path) {
    const bytes16 others = either(outside(bytes, '-', ';'), equal(bytes, '.'));
    return but_not(both(no_letters(bytes), others), equal(bytes, '_'));
  } else if constexpr (Set == set::query) {
    return but_not(both(no_letters(bytes), outside(bytes, '&', ';')),
                   either(equal(bytes, '='), equal(bytes, '_')));
  } else if constexpr (Set == set::uri || Set == set::target) {
    return but_not(both(no_letters(bytes), outside(bytes, '$', ';')),
                   either(equal(bytes, '='), equal(bytes, '?')));
  } else if constexpr (Set == set::field) {
    return outside(bytes, ' ', '~');
  } else {
    return both(no_letters(bytes), either(outside(bytes, '-', '9'), equal(bytes, '/')));
  }
}

// A bit for each of the 16 bytes at `at` that is not a common one.
template <set Set>
unsigned uncommon16(const char* at) noexcept {
  const bytes16 bytes = _mm_loadu_si128(reinterpret_cast<const bytes16*>(at));
  return static_cast<unsigned>(_mm_movemask_epi8(uncommon<Set>(bytes)));
}

#endif

}  // namespace detail

/// What scans long runs.
enum class variant : std::uint8_t { scalar, sse2, avx2 };

/// Those that this CPU has, the fastest last.
[[nodiscard]] std::span<const variant> variants() noexcept;
[[nodiscard]] variant in_use() noexcept;
/// For tests, which try each: before there are threads that parse. One of variants().
void use(variant which) noexcept;
/// All of a scan by `which`, one of variants().
[[nodiscard]] std::size_t skip_by(variant which, set of, const char* text, std::size_t at,
                                  std::size_t end) noexcept;

namespace detail {

using long_skip = std::size_t (*)(set of, const char* text, std::size_t at, std::size_t end);
/// Of the variant in use.
extern constinit long_skip skip_long;

}  // namespace detail

/// Of 16 bytes each. Counted in instructions, one or two serve requests of every kind best, and
/// four or none at all cost a browser's a twentieth more.
inline constexpr int inline_blocks = 2;

template <set Set>
[[nodiscard]] constexpr bool contains(char byte) noexcept {
  return (detail::table[static_cast<unsigned char>(byte)] & static_cast<unsigned>(Set)) != 0;
}

template <set Set>
[[nodiscard]] constexpr std::size_t skip_scalar(const char* text, std::size_t at,
                                                std::size_t end) noexcept {
  while (at != end && contains<Set>(text[at])) ++at;
  return at;
}

template <set Set>
[[nodiscard]] inline std::size_t skip(const char* text, std::size_t at, std::size_t end) noexcept {
#ifdef __SSE2__
  for (int block = 0; block < inline_blocks; ++block) {
    if (at + 16 > end) return skip_scalar<Set>(text, at, end);
    const unsigned uncommon = detail::uncommon16<Set>(text + at);
    if (uncommon == 0) {
      at += 16;
      continue;
    }
    // std::countr_zero would ask again whether it is 0.
    at += static_cast<unsigned>(__builtin_ctz(uncommon));
    if (!contains<Set>(text[at])) return at;
    ++at;
  }
  return detail::skip_long(Set, text, at, end);
#else
  return skip_scalar<Set>(text, at, end);
#endif
}

// A first step of skip(), for runs that mostly end within 16 bytes and at a byte that the caller
// knows: at or before the end of the run, and at most 16 bytes on. So many must be there.
template <set Set>
[[nodiscard]] inline std::size_t skip_some(const char* text, std::size_t at) noexcept {
#ifdef __SSE2__
  return at + static_cast<unsigned>(__builtin_ctz(detail::uncommon16<Set>(text + at) | 0x10000u));
#else
  return skip_scalar<Set>(text, at, at + 16);
#endif
}

// How many of the eight bytes at `at` are digits before the first that is not.
[[nodiscard]] inline unsigned count_digits(const char* at) noexcept {
#ifdef __SSE2__
  // The other eight are 0, which is no digit either.
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
  const int others = _mm_movemask_epi8(detail::outside(bytes, '0', '9'));
  return static_cast<unsigned>(__builtin_ctz(static_cast<unsigned>(others)));
#else
  unsigned count = 0;
  while (count != 8 && static_cast<unsigned char>(at[count]) - unsigned{'0'} < 10) ++count;
  return count;
#endif
}

template <set Set>
[[nodiscard]] inline bool consists_of(std::string_view text) noexcept {
  return skip<Set>(text.data(), 0, text.size()) == text.size();
}

// The number that 1 to 18 decimal digits mean, which is how many cannot overflow; none for anything
// else.
[[nodiscard]] constexpr std::optional<std::uint64_t> decimal(std::string_view digits) noexcept {
  if (digits.empty() || digits.size() > 18) return std::nullopt;
  std::uint64_t value = 0;
  for (char c : digits) {
    const unsigned digit = static_cast<unsigned char>(c) - unsigned{'0'};
    if (digit > 9) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

// A port as URIs have it (RFC 3986 section 3.2.3), with any leading zeros, not empty.
[[nodiscard]] constexpr bool is_port(std::string_view text) noexcept {
  while (text.size() > 5 && text.front() == '0') text.remove_prefix(1);
  return text.size() <= 5 && decimal(text).value_or(65536) <= 65535;
}

// The value of a hexadecimal digit, or -1.
[[nodiscard]] constexpr int hex_value(char digit) noexcept {
  const auto byte = static_cast<unsigned char>(digit);
  if (byte - unsigned{'0'} < 10) return byte - '0';
  const unsigned letter = (byte | 0x20u) - 'a';
  return letter < 6 ? static_cast<int>(letter + 10) : -1;
}

// The byte that "%XX" at `percent` means (RFC 3986 section 2.1); none: two such digits do not
// follow.
[[nodiscard]] constexpr std::optional<char> escaped_byte(std::string_view text,
                                                         std::size_t percent) noexcept {
  if (text.size() - percent < 3) return std::nullopt;
  const int high = hex_value(text[percent + 1]);
  const int low = hex_value(text[percent + 2]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high << 4 | low);
}

}  // namespace weft::http::scan
