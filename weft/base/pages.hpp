// Pages of memory from the system, and back to it.
//
// Contract: map_pages() gives zeroed pages, not taken before they are touched, at a multiple of
// `alignment`, a power of two and of the page size; nullptr: the system has none. unmap_pages()
// takes what map_pages() gave. forget_pages() gives the memory back and keeps the addresses: what
// was written there is zero again. Any thread.
//
//   char* const slab = map_pages(64 << 10, 64 << 10);
//   unmap_pages(slab, 64 << 10);
#pragma once

#include <cstddef>

namespace weft {

[[nodiscard]] char* map_pages(std::size_t size_bytes, std::size_t alignment) noexcept;
void unmap_pages(char* pages, std::size_t size_bytes) noexcept;
void forget_pages(char* pages, std::size_t size_bytes) noexcept;

}  // namespace weft
