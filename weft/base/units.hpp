// Sizes written as people say them.
//
// Problem: 65536, 64 * 1024 and 64'000 look alike to a reader, and a literal that overflows is
// silent. Contract: binary units only, as std::size_t; a size that does not fit fails to compile.
// Visible in namespace weft; elsewhere `using namespace weft::literals;`.
//
//   constexpr std::size_t buffer_bytes = 16_KiB;
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

namespace detail {

// Not constexpr: to reach it while compiling is the error message.
inline void size_literal_does_not_fit_size_t() noexcept {}

consteval std::size_t scaled(unsigned long long count, unsigned shift) {
  if (count > (SIZE_MAX >> shift)) size_literal_does_not_fit_size_t();
  return static_cast<std::size_t>(count) << shift;
}

}  // namespace detail

inline namespace literals {

consteval std::size_t operator""_KiB(unsigned long long count) { return detail::scaled(count, 10); }
consteval std::size_t operator""_MiB(unsigned long long count) { return detail::scaled(count, 20); }
consteval std::size_t operator""_GiB(unsigned long long count) { return detail::scaled(count, 30); }

}  // namespace literals

}  // namespace weft
