#include <weft/loop/buffer_pool.hpp>

#include <sys/mman.h>

#include <algorithm>

#include <weft/base/assert.hpp>
#include <weft/loop/memory_share.hpp>

namespace weft {
namespace {

/// Pages of zeros, not taken before they are touched, at a multiple of `alignment`; nullptr: the
/// system has none.
char* map_aligned(std::size_t size_bytes, std::size_t alignment) noexcept {
  void* const mapped = ::mmap(nullptr, size_bytes + alignment, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<char*>(mapped);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % alignment;
  if (before != 0) ::munmap(begin, before);
  ::munmap(begin + before + size_bytes, alignment - before);
  return begin + before;
}

}  // namespace

buffer_pool::buffer_pool(std::uint32_t slots_max, memory_share* counted_by) noexcept
    : slots_max_{std::clamp(slots_max, slots_per_chunk, slots_limit)}, memory_{counted_by} {}

buffer_pool::~buffer_pool() {
  WEFT_ASSERT(in_use() == 0, "every buffer_ref is given back before its pool ends");
  for (char* chunk : chunks_) {
    unpoison(chunk, slots_per_chunk * slot_bytes);
    ::munmap(chunk, slots_per_chunk * slot_bytes);
    if (memory_ != nullptr) memory_->remove(memory_kind::buffers, slots_per_chunk * slot_bytes);
  }
}

std::vector<std::uint32_t> buffer_pool::slots_in_use() const {
  std::vector<bool> is_free(chunks_.size() * slots_per_chunk);
  for (std::size_t i = 0; i < free_count_; ++i) is_free[free_[i]] = true;
  std::vector<std::uint32_t> used;
  for (std::uint32_t slot = 0; slot < is_free.size(); ++slot)
    if (!is_free[slot]) used.push_back(slot);
  return used;
}

bool buffer_pool::grow() noexcept {
  if ((chunks_.size() + 1) * slots_per_chunk > slots_max_) return false;
  char* const memory = map_aligned(slots_per_chunk * slot_bytes, slot_bytes);
  if (memory == nullptr) return false;
  const auto first = static_cast<std::uint32_t>(chunks_.size() * slots_per_chunk);
  chunks_.push_back(memory);
  poison(memory, slots_per_chunk * slot_bytes);
  free_.resize(chunks_.size() * slots_per_chunk);
  if (memory_ != nullptr) memory_->add(memory_kind::buffers, slots_per_chunk * slot_bytes);
  // Lowest numbers are lent first.
  for (std::uint32_t i = slots_per_chunk; i > 0; --i) free_[free_count_++] = first + i - 1;
  return true;
}

}  // namespace weft
