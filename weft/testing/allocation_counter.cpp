#include <weft/testing/allocation_counter.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <weft/base/sanitizers.hpp>
#include <weft/testing/allocation_failure.hpp>

#if WEFT_SANITIZED
#include <sanitizer/allocator_interface.h>
#endif

namespace {

struct counts {
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
  std::uint64_t frees = 0;
  std::size_t fails_from_bytes = SIZE_MAX;  // the next allocation of so many
  std::uint64_t fails_in = 0;               // so many allocations; 0: none
  bool fails_for_good = false;
  bool has_failed = false;  // the one that was counted to
};

// Constant from the start: a thread's first allocation may come before any constructor.
constinit thread_local counts here;

void count_allocation(std::size_t size_bytes) noexcept {
  ++here.allocations;
  here.bytes += size_bytes;
}

[[maybe_unused]] bool is_counted_to() noexcept {
  if (here.fails_in == 0) return false;
  if (here.fails_in > 1) {
    --here.fails_in;
    return false;
  }
  here.has_failed = true;
  errno = ENOMEM;
  if (!here.fails_for_good) here.fails_in = 0;
  return true;
}

/// Whether it is the first of so many bytes.
[[maybe_unused]] bool is_refused_by_size(std::size_t size_bytes) noexcept {
  if (size_bytes < here.fails_from_bytes) return false;
  here.fails_from_bytes = SIZE_MAX;
  return true;
}

[[maybe_unused]] bool must_fail(std::size_t size_bytes) noexcept {
  if (!is_refused_by_size(size_bytes) && !is_counted_to()) return false;
  errno = ENOMEM;
  return true;
}

void count_free(const volatile void* memory) noexcept {
  if (memory != nullptr) ++here.frees;
}

}  // namespace

namespace weft::testing {

allocation_counter::allocation_counter() noexcept
    : allocations_before_{here.allocations}, bytes_before_{here.bytes}, frees_before_{here.frees} {}

std::uint64_t allocation_counter::allocations() const noexcept {
  return here.allocations - allocations_before_;
}

std::uint64_t allocation_counter::allocated_bytes() const noexcept {
  return here.bytes - bytes_before_;
}

std::uint64_t allocation_counter::frees() const noexcept { return here.frees - frees_before_; }

bool allocation_failure::is_available() noexcept { return WEFT_SANITIZED == 0; }

allocation_failure::allocation_failure(std::size_t from_bytes) noexcept {
  here.fails_from_bytes = from_bytes;
}

allocation_failure::~allocation_failure() { here.fails_from_bytes = SIZE_MAX; }

allocation_failures::allocation_failures(std::uint64_t nth, failing how) noexcept {
  here.has_failed = false;
  here.fails_for_good = how == failing::for_good;
  here.fails_in = nth;
}

allocation_failures::~allocation_failures() { here.fails_in = 0; }

bool allocation_failures::has_failed() const noexcept { return here.has_failed; }

}  // namespace weft::testing

#if WEFT_SANITIZED

namespace {

[[maybe_unused]] const int hooks_installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t size_bytes) { count_allocation(size_bytes); },
    [](const volatile void* memory) { count_free(memory); });

}  // namespace

#elif defined(__GLIBC__)

// The program's malloc goes before the C library's, for all of its libraries; operator new calls
// it.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" {

void* __libc_malloc(std::size_t size_bytes) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size_bytes) noexcept;
void* __libc_realloc(void* memory, std::size_t size_bytes) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size_bytes) noexcept;
void __libc_free(void* memory) noexcept;

void* malloc(std::size_t size_bytes) noexcept {
  if (must_fail(size_bytes)) return nullptr;
  count_allocation(size_bytes);
  return __libc_malloc(size_bytes);
}

void* calloc(std::size_t count, std::size_t size_bytes) noexcept {
  if (is_counted_to()) return nullptr;
  count_allocation(count * size_bytes);
  return __libc_calloc(count, size_bytes);
}

void* realloc(void* memory, std::size_t size_bytes) noexcept {
  if (is_counted_to()) return nullptr;
  count_allocation(size_bytes);
  count_free(memory);
  return __libc_realloc(memory, size_bytes);
}

void* memalign(std::size_t alignment, std::size_t size_bytes) noexcept {
  if (is_counted_to()) return nullptr;
  count_allocation(size_bytes);
  return __libc_memalign(alignment, size_bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t size_bytes) noexcept {
  return memalign(alignment, size_bytes);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size_bytes) noexcept {
  const bool is_power_of_two = (alignment & (alignment - 1)) == 0;
  if (alignment < sizeof(void*) || !is_power_of_two) return EINVAL;
  void* made = memalign(alignment, size_bytes);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}

void free(void* memory) noexcept {
  count_free(memory);
  __libc_free(memory);
}

// Pools take pages from the system by themselves.
void* mmap(void* address, std::size_t size_bytes, int protection, int flags, int file,
           off_t offset) noexcept {
  if (file == -1 && must_fail(size_bytes)) return MAP_FAILED;
  return reinterpret_cast<void*>(
      ::syscall(SYS_mmap, address, size_bytes, protection, flags, file, offset));
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

#else
#error "weft::testing counts allocations in glibc or in a sanitizer's malloc; this is neither"
#endif
