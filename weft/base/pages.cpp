#include <weft/base/pages.hpp>

#include <sys/mman.h>

#include <cstdint>

namespace weft {
namespace {

char* map(std::size_t size_bytes) noexcept {
  void* const mapped =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
}

}  // namespace

char* map_pages(std::size_t size_bytes, std::size_t alignment) noexcept {
  // Behind pages that were aligned the next ones are, as a rule.
  char* const first = map(size_bytes);
  if (first == nullptr || reinterpret_cast<std::uintptr_t>(first) % alignment == 0) return first;
  unmap_pages(first, size_bytes);
  char* const begin = map(size_bytes + alignment);
  if (begin == nullptr) return nullptr;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % alignment;
  if (before != 0) unmap_pages(begin, before);
  unmap_pages(begin + before + size_bytes, alignment - before);
  return begin + before;
}

// Neither can fail for pages that were mapped here, but where the kernel has no memory to note that
// a mapping is cut in two: then the pages stay, which is no fault of whoever gives them back.
void unmap_pages(char* pages, std::size_t size_bytes) noexcept {
  static_cast<void>(::munmap(pages, size_bytes));
}

void forget_pages(char* pages, std::size_t size_bytes) noexcept {
  // As above: the pages stay.
  static_cast<void>(::madvise(pages, size_bytes, MADV_DONTNEED));
}

}  // namespace weft
