#include <weft/net/write_queue.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/coro/frame_pool.hpp>

namespace weft::net {

/// Bytes in one place: in a pool slot with room behind them, or in a string.
struct write_queue::segment {
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }

  [[nodiscard]] std::size_t room() const noexcept {
    return slot ? static_cast<std::size_t>(end - data) - size : 0;
  }

  segment* next = nullptr;
  char* data = nullptr;
  std::size_t size = 0;
  char* end = nullptr;  // of the slot
  buffer_ref slot;
  std::string text;
};

write_queue::segment& write_queue::push() {
  auto* added = new segment;
  (last_ == nullptr ? first_ : last_->next) = added;
  last_ = added;
  return *added;
}

void write_queue::pop() noexcept {
  segment* gone = first_;
  first_ = gone->next;
  if (first_ == nullptr) last_ = nullptr;
  delete gone;
}

std::span<char> write_queue::prepare(std::size_t size_bytes) {
  WEFT_DEBUG_ASSERT(size_bytes <= buffer_pool::slot_capacity, "prepare() is for what fits a slot");
  if (last_ == nullptr || last_->room() < size_bytes) {
    segment& added = push();
    added.slot = pool_.acquire();
    if (added.slot) {
      added.data = added.slot.data();
      added.end = added.data + added.slot.capacity();
    } else {
      // No slot is left: the heap serves until some come back.
      added.text.resize(size_bytes);
      added.data = added.text.data();
      return {added.data, size_bytes};
    }
  }
  return {last_->data + last_->size, last_->room()};
}

void write_queue::commit(std::size_t size_bytes) noexcept {
  last_->size += size_bytes;
  size_ += size_bytes;
}

void write_queue::append(std::string_view text) {
  if (text.empty()) return;
  if (text.size() > buffer_pool::slot_capacity) {
    append(std::string{text});
    return;
  }
  std::memcpy(prepare(text.size()).data(), text.data(), text.size());
  commit(text.size());
}

void write_queue::append(std::string&& text) {
  if (text.empty()) return;
  segment& added = push();
  added.text = std::move(text);
  added.data = added.text.data();
  commit(added.text.size());
}

void write_queue::append(buffer_ref&& bytes) {
  if (bytes.empty()) return;
  segment& added = push();
  added.slot = std::move(bytes);
  added.data = added.slot.data();
  added.end = added.data + added.slot.capacity();
  commit(added.slot.size());
}

std::size_t write_queue::gather(std::span<iovec> parts) const noexcept {
  std::size_t count = 0;
  for (const segment* s = first_; s != nullptr && count < parts.size(); s = s->next)
    if (s->size != 0) parts[count++] = {.iov_base = s->data, .iov_len = s->size};
  return count;
}

void write_queue::consume(std::size_t size_bytes) noexcept {
  size_ -= size_bytes;
  while (size_bytes > 0) {
    const std::size_t part = std::min(size_bytes, first_->size);
    first_->data += part;
    first_->size -= part;
    size_bytes -= part;
    if (first_->size == 0) pop();
  }
  if (size_ == 0) clear();
}

void write_queue::clear() noexcept {
  while (first_ != nullptr) pop();
  size_ = 0;
}

}  // namespace weft::net
