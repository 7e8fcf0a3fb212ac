#include <weft/http/websocket/message_memory.hpp>

#include <algorithm>
#include <cstring>

namespace weft::http::ws {
namespace {

constexpr std::size_t grown_at_least_bytes = 16 * 1024;

}  // namespace

void message_memory::append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (large_ == nullptr) {
    if (!slot_) slot_ = pool_->acquire();
    if (slot_ && slot_.capacity() - slot_.size() >= bytes.size()) {
      std::memcpy(slot_.data() + slot_.size(), bytes.data(), bytes.size());
      slot_.resize(slot_.size() + bytes.size());
      return;
    }
    grow(bytes.size());
  }
  large_->text.append(bytes);
  count();
}

void message_memory::count() noexcept {
  const std::size_t size = large_->text.capacity();
  if (pool_->memory() == nullptr || large_->counted.bytes() >= size) return;
  large_->counted.reset();
  large_->counted = pool_->memory()->hold(memory_kind::bodies, size);
}

std::span<char> message_memory::prepare() {
  if (large_ == nullptr) {
    if (!slot_) slot_ = pool_->acquire();
    if (slot_ && slot_.size() < slot_.capacity())
      return {slot_.data() + slot_.size(), slot_.capacity() - slot_.size()};
    grow(grown_at_least_bytes);
  }
  std::string& text = large_->text;
  const std::size_t used = text.size();
  if (text.capacity() == used) text.reserve(2 * used);
  count();
  room_bytes_ = text.capacity() - used;
  text.resize_and_overwrite(text.capacity(), [](char*, std::size_t all) { return all; });
  return {text.data() + used, room_bytes_};
}

void message_memory::commit(std::size_t size_bytes) noexcept {
  if (large_ == nullptr) {
    slot_.resize(slot_.size() + size_bytes);
    return;
  }
  large_->text.resize(large_->text.size() - room_bytes_ + size_bytes);
  room_bytes_ = 0;
}

/// From the slot, if there is one, to memory of its own.
void message_memory::grow(std::size_t least_bytes) {
  auto made = std::make_unique<counted_text>();
  made->text.reserve(std::max(grown_at_least_bytes, 2 * (slot_.size() + least_bytes)));
  made->text.append(slot_.text());
  slot_.reset();
  large_ = std::move(made);
}

}  // namespace weft::http::ws
