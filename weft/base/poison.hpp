// Telling AddressSanitizer what pools know.
//
// Problem: a pool keeps its memory when an object is given back, so a use after that looks valid to
// AddressSanitizer. Contract: the pool poisons what it holds and unpoisons what it hands out; any
// access in between is reported. Without AddressSanitizer all of it compiles to nothing. Address
// and size should be multiples of 8: a partial granule at the end stays accessible. Unpoison memory
// before it is freed.
//
//   weft::poison(slot, slot_bytes);    // given back
//   weft::unpoison(slot, slot_bytes);  // handed out
#pragma once

#include <cstddef>

#include <weft/base/sanitizers.hpp>

#if WEFT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace weft {

#if WEFT_ADDRESS_SANITIZER

inline void poison(const void* address, std::size_t size_bytes) noexcept {
  __asan_poison_memory_region(address, size_bytes);
}
inline void unpoison(const void* address, std::size_t size_bytes) noexcept {
  __asan_unpoison_memory_region(address, size_bytes);
}
// Whether the first byte is poisoned. Without AddressSanitizer always false.
[[nodiscard]] inline bool is_poisoned(const void* address) noexcept {
  return __asan_address_is_poisoned(address) != 0;
}

#else

inline void poison(const void*, std::size_t) noexcept {}
inline void unpoison(const void*, std::size_t) noexcept {}
[[nodiscard]] inline bool is_poisoned(const void*) noexcept { return false; }

#endif

}  // namespace weft
