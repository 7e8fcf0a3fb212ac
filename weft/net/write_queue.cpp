#include <weft/net/write_queue.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/coro/frame_pool.hpp>

namespace weft::net {
namespace {

constexpr std::size_t heap_piece_least_bytes = 1'024;

}  // namespace

/// A piece of memory of another kind, with the bytes that `data` shows.
struct write_queue::foreign_segment : segment {
  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* memory, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(memory, size_bytes);
  }
  std::string text;
  buffer_ref bytes;
  shared_text shared;
  std::size_t counted = 0;
};

void write_queue::push(segment& added) noexcept {
  (last_ == nullptr ? first_ : last_->next) = &added;
  last_ = &added;
}

/// A shared text is counted by itself, and a buffer by its pool.
void write_queue::push_foreign(foreign_segment& added) noexcept {
  push(added);
  added.counted = sizeof(foreign_segment) + added.text.capacity();
  if (pool_.memory() != nullptr) pool_.memory()->add(memory_kind::output, added.counted);
}

void write_queue::drop_foreign(segment& gone) noexcept {
  auto& foreign = static_cast<foreign_segment&>(gone);
  if (pool_.memory() != nullptr) pool_.memory()->remove(memory_kind::output, foreign.counted);
  delete &foreign;
}

std::size_t write_queue::counted_bytes() const noexcept {
  std::size_t all = 0;
  for (const segment* s = first_; s != nullptr; s = s->next)
    if (s->slot == segment::no_slot) all += static_cast<const foreign_segment*>(s)->counted;
  return all;
}

std::span<char> write_queue::prepare_another(std::size_t size_bytes) {
  WEFT_DEBUG_ASSERT(size_bytes <= prepare_most_bytes, "prepare() is for what fits a slot");
  std::uint32_t slot = 0;
  if (pool_.in_use() < pool_.slots_for_output() && pool_.has_free() && pool_.take(slot)) [[likely]]
    return prepare_in(slot);
  return prepare_in_more_memory(size_bytes);
}

[[gnu::always_inline]] inline std::span<char> write_queue::prepare_in(std::uint32_t slot) noexcept {
  char* const memory = pool_.address(slot);
  push(*::new (memory) segment{
      .data = memory + sizeof(segment), .end = memory + buffer_pool::slot_capacity, .slot = slot});
  return {memory + sizeof(segment), prepare_most_bytes};
}

std::span<char> write_queue::prepare_in_more_memory(std::size_t size_bytes) {
  std::uint32_t slot = 0;
  if (pool_.in_use() < pool_.slots_for_output() && pool_.take(slot)) return prepare_in(slot);
  // The heap serves until some come back, small pieces together: bytes that come one by one would
  // each cost a hundred of them.
  auto added = std::make_unique<foreign_segment>();
  added->text.resize(std::max(size_bytes, heap_piece_least_bytes));
  added->data = added->text.data();
  added->end = added->data + added->text.size();
  push_foreign(*added);
  return {added.release()->data, size_bytes};
}

void write_queue::append(std::string_view text) {
  if (text.empty()) return;
  if (text.size() > prepare_most_bytes) {
    append(std::string{text});
    return;
  }
  std::memcpy(prepare(text.size()).data(), text.data(), text.size());
  commit(text.size());
}

void write_queue::append(std::string&& text) {
  if (text.empty()) return;
  auto* added = new foreign_segment;
  added->text = std::move(text);
  added->data = added->text.data();
  added->end = added->data + added->text.size();
  push_foreign(*added);
  commit(added->text.size());
}

void write_queue::append(buffer_ref&& bytes) {
  if (bytes.empty()) return;
  auto* added = new foreign_segment;
  added->bytes = std::move(bytes);
  added->data = added->bytes.data();
  added->end = added->data + added->bytes.capacity();
  push_foreign(*added);
  commit(added->bytes.size());
}

/// Nothing is written behind it: it has no room.
void write_queue::append(shared_text text) {
  if (text.empty()) return;
  auto* added = new foreign_segment;
  added->shared = std::move(text);
  const std::string_view all = added->shared.view();
  added->data = const_cast<char*>(all.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  added->end = added->data + all.size();
  push_foreign(*added);
  commit(all.size());
}

std::size_t write_queue::gather(std::span<iovec> parts) const noexcept {
  std::size_t count = 0;
  for (const segment* s = first_; s != nullptr && count < parts.size(); s = s->next)
    if (s->size != 0) parts[count++] = {.iov_base = s->data, .iov_len = s->size};
  return count;
}

void write_queue::consume_part(std::size_t size_bytes) noexcept {
  size_ -= size_bytes;
  while (size_bytes > 0) {
    const std::size_t part = std::min(size_bytes, first_->size);
    first_->data += part;
    first_->size -= part;
    size_bytes -= part;
    if (first_->size == 0) pop();
  }
}

}  // namespace weft::net
