#include <weft/loop/buffer_pool.hpp>

#include <algorithm>
#include <new>

#include <weft/base/assert.hpp>
#include <weft/base/pages.hpp>
#include <weft/loop/memory_share.hpp>

namespace weft {

buffer_pool::buffer_pool(std::uint32_t slots_max, memory_share* counted_by) noexcept
    : slots_max_{std::clamp(slots_max, slots_per_chunk, slots_limit)},
      slots_for_output_{std::min<std::size_t>(4'096, slots_max_ / 4)},
      memory_{counted_by} {}

buffer_pool::~buffer_pool() {
  WEFT_ASSERT(in_use() == 0, "every buffer_ref is given back before its pool ends");
  for (char* chunk : chunks_) {
    unpoison(chunk, slots_per_chunk * slot_bytes);
    unmap_pages(chunk, slots_per_chunk * slot_bytes);
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

std::size_t buffer_pool::trim(std::size_t first, std::size_t count) noexcept {
  if (free_count_ <= kept_slots) return free_count_;
  const std::size_t end = std::min(first + count, free_count_ - kept_slots);
  for (std::size_t i = first; i < end; ++i) {
    unpoison(address(free_[i]), slot_bytes);
    forget_pages(address(free_[i]), slot_bytes);
    poison(address(free_[i]), slot_bytes);
  }
  return end < free_count_ - kept_slots ? end : free_count_;
}

bool buffer_pool::grow() noexcept {
  if ((chunks_.size() + 1) * slots_per_chunk > slots_max_) return false;
  try {
    chunks_.reserve(chunks_.size() + 1);
    free_.resize((chunks_.size() + 1) * slots_per_chunk);
  } catch (const std::bad_alloc&) {
    return false;
  }
  char* const memory = map_pages(slots_per_chunk * slot_bytes, slot_bytes);
  if (memory == nullptr) return false;
  const auto first = static_cast<std::uint32_t>(chunks_.size() * slots_per_chunk);
  chunks_.push_back(memory);
  poison(memory, slots_per_chunk * slot_bytes);
  if (memory_ != nullptr) memory_->add(memory_kind::buffers, slots_per_chunk * slot_bytes);
  // Lowest numbers are lent first.
  for (std::uint32_t i = slots_per_chunk; i > 0; --i) free_[free_count_++] = first + i - 1;
  return true;
}

}  // namespace weft
