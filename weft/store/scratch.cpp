#include <weft/store/scratch.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace weft::store {
namespace {

constexpr std::size_t first_chunk_bytes = 4096;
/// Chunks grow up to this size: a large request would waste as much as it needs.
constexpr std::size_t grown_chunk_bytes = std::size_t{256} * 1024;

}  // namespace

std::string_view scratch::copy(std::string_view text) {
  const std::span<char> room = make(text.size());
  if (!text.empty()) std::memcpy(room.data(), text.data(), text.size());
  return {room.data(), room.size()};
}

void scratch::clear() noexcept {
  std::size_t kept = 0;
  std::size_t count = 0;
  while (count < chunks_.size() && kept + chunks_[count].size_bytes <= kept_bytes)
    kept += chunks_[count++].size_bytes;
  chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(count), chunks_.end());
  held_bytes_ = kept;
  counted_.reset();
  here_ = nullptr;
  room_ = used_ = entered_ = 0;
  if (!chunks_.empty()) enter(chunks_.front());
}

void scratch::enter(chunk& next) noexcept {
  here_ = next.memory.get();
  room_ = next.size_bytes;
  used_ = 0;
  ++entered_;
}

void* scratch::take_elsewhere(std::size_t size_bytes) {
  // A chunk begins where any type may.
  while (entered_ < chunks_.size()) {
    enter(chunks_[entered_]);
    if (size_bytes > room_) continue;
    used_ = size_bytes;
    return here_;
  }
  const std::size_t size =
      std::max({first_chunk_bytes, std::min(2 * room_, grown_chunk_bytes), size_bytes});
  if (share_ != nullptr && held_bytes_ + size > uncounted_bytes_) count(held_bytes_ + size);
  chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
  held_bytes_ += size;
  enter(chunks_.back());
  used_ = size_bytes;
  return here_;
}

void scratch::count(std::size_t bytes) {
  if (bytes <= counted_.bytes()) return;
  auto more =
      share_->try_reserve(memory_kind::requests, bytes - counted_.bytes(), memory_priority::normal);
  if (!more) {
    share_->note_refused();
    throw std::bad_alloc{};
  }
  counted_.join(std::move(more));
}

}  // namespace weft::store
