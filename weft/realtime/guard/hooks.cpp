// What tells allocation_guard.hpp of every allocation: see there.
#include <cerrno>
#include <cstddef>

#include <weft/base/sanitizers.hpp>
#include <weft/realtime/allocation_guard.hpp>

#if WEFT_SANITIZED
#include <sanitizer/allocator_interface.h>
#endif

namespace {

void note(std::size_t size_bytes) noexcept { weft::realtime::allocation_guard::note(size_bytes); }

}  // namespace

/// Whose name has the linker take this file.
extern "C" {
extern const bool weft_realtime_guard;
const bool weft_realtime_guard = weft::realtime::allocation_guard::watch();
}

#if WEFT_SANITIZED

namespace {

[[maybe_unused]] const int hooks_installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t size_bytes) { note(size_bytes); },
    [](const volatile void*) {});

}  // namespace

#elif defined(__GLIBC__)

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" {

void* __libc_malloc(std::size_t size_bytes) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size_bytes) noexcept;
void* __libc_realloc(void* memory, std::size_t size_bytes) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size_bytes) noexcept;
void* __libc_valloc(std::size_t size_bytes) noexcept;
void* __libc_pvalloc(std::size_t size_bytes) noexcept;

void* malloc(std::size_t size_bytes) noexcept {
  note(size_bytes);
  return __libc_malloc(size_bytes);
}

void* calloc(std::size_t count, std::size_t size_bytes) noexcept {
  std::size_t all_bytes = 0;
  if (!__builtin_mul_overflow(count, size_bytes, &all_bytes)) note(all_bytes);
  return __libc_calloc(count, size_bytes);
}

void* realloc(void* memory, std::size_t size_bytes) noexcept {
  note(size_bytes);
  return __libc_realloc(memory, size_bytes);
}

void* memalign(std::size_t alignment, std::size_t size_bytes) noexcept {
  note(size_bytes);
  return __libc_memalign(alignment, size_bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t size_bytes) noexcept {
  return memalign(alignment, size_bytes);
}

void* valloc(std::size_t size_bytes) noexcept {
  note(size_bytes);
  return __libc_valloc(size_bytes);
}

void* pvalloc(std::size_t size_bytes) noexcept {
  note(size_bytes);
  return __libc_pvalloc(size_bytes);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size_bytes) noexcept {
  const bool is_power_of_two = (alignment & (alignment - 1)) == 0;
  if (alignment < sizeof(void*) || !is_power_of_two) return EINVAL;
  void* const made = memalign(alignment, size_bytes);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

#else
#error "weft::realtime_guard sees allocations in glibc or in a sanitizer's malloc; this is neither"
#endif
