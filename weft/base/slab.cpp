#include <weft/base/slab.hpp>

#include <weft/base/units.hpp>

#include <algorithm>

namespace weft::detail {

namespace {

constexpr std::size_t first_chunk_bytes = 1_KiB;
constexpr std::size_t largest_chunk_bytes = 64_KiB;

constexpr std::size_t round_up(std::size_t size, std::size_t alignment) noexcept {
  return (size + alignment - 1) / alignment * alignment;
}

}  // namespace

slot_pool::slot_pool(std::size_t slot_bytes, std::size_t slot_alignment) noexcept
    : slot_bytes_(slot_bytes),
      slot_alignment_(slot_alignment),
      next_chunk_slots_(std::max<std::size_t>(1, first_chunk_bytes / slot_bytes)) {}

slot_pool::~slot_pool() {
  while (chunks_ != nullptr) {
    chunk* const last = chunks_;
    chunks_ = last->previous;
    unpoison(last, last->size_bytes);
    ::operator delete(last, std::align_val_t(slot_alignment_));
  }
}

void* slot_pool::take_fresh() {
  if (fresh_ == fresh_end_) add_chunk();
  void* const slot = fresh_;
  fresh_ += slot_bytes_;
  unpoison(slot, slot_bytes_);
  ++in_use_;
  return slot;
}

void slot_pool::add_chunk() {
  const std::size_t header_bytes = round_up(sizeof(chunk), slot_alignment_);
  const std::size_t slots_bytes = next_chunk_slots_ * slot_bytes_;
  const std::size_t size_bytes = header_bytes + slots_bytes;
  void* const memory = ::operator new(size_bytes, std::align_val_t(slot_alignment_));
  chunks_ = ::new (memory) chunk{.previous = chunks_, .size_bytes = size_bytes};
  fresh_ = static_cast<std::byte*>(memory) + header_bytes;
  fresh_end_ = fresh_ + slots_bytes;
  poison(fresh_, slots_bytes);
  const std::size_t most_slots = std::max<std::size_t>(1, largest_chunk_bytes / slot_bytes_);
  next_chunk_slots_ = std::min(next_chunk_slots_ * 2, most_slots);
}

}  // namespace weft::detail
