// Bytes on their way out: owned segments, gathered into as few sends as the kernel takes.
//
// Contract: the queue owns what is put in. Small writes are copied into a shared pool slot, so that
// the replies to pipelined requests leave in one send; large ones keep their own memory, and so do
// small ones while a quarter of the pool is lent, which is to be received with, too. What
// gather() returned stays valid, and in place, until consume() says that it has been sent, whatever
// is appended meanwhile. Memory that is not the pool's counts as the shard's output. One shard.
//
//   queue.append(text);
//   queue.gather(parts);
//   queue.consume(sent);
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <weft/loop/buffer_pool.hpp>
#include <weft/loop/shared_text.hpp>

namespace weft::net {

class write_queue {
  /// Bytes in one place. What was written in place stands in a slot of the pool, at whose front the
  /// segment itself stands; other memory has its segment elsewhere.
  struct segment {
    static constexpr std::uint32_t no_slot = UINT32_MAX;

    [[nodiscard]] std::size_t room() const noexcept {
      return static_cast<std::size_t>(end - data) - size;
    }

    segment* next = nullptr;
    char* data = nullptr;
    std::size_t size = 0;
    char* end = nullptr;  // of the memory that may be written to
    std::uint32_t slot = no_slot;
  };

 public:
  /// What prepare() can give at a time.
  static constexpr std::size_t prepare_most_bytes = buffer_pool::slot_capacity - sizeof(segment);

  explicit write_queue(buffer_pool& pool) noexcept : pool_{pool} {}
  write_queue(const write_queue&) = delete;
  write_queue& operator=(const write_queue&) = delete;
  ~write_queue() { clear(); }

  /// Bytes not yet consumed.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Whether some of it may be in memory that is not the pool's.
  [[nodiscard]] bool may_be_counted() const noexcept {
    return first_ != last_ || (first_ != nullptr && first_->slot == segment::no_slot);
  }
  /// That memory, which would be free if this were cleared. Looks at each piece.
  [[nodiscard]] std::size_t counted_bytes() const noexcept;

  void append(std::string_view text);
  void append(std::string&& text);
  void append(buffer_ref&& bytes);
  /// Keeps it, without a copy, until it has been sent.
  void append(shared_text text);

  /// Room for `size_bytes` (at most prepare_most_bytes) to be written in place, then commit()ted.
  [[nodiscard]] std::span<char> prepare(std::size_t size_bytes) {
    if (last_ == nullptr || last_->room() < size_bytes) return prepare_another(size_bytes);
    return {last_->data + last_->size, last_->room()};
  }
  void commit(std::size_t size_bytes) noexcept {
    last_->size += size_bytes;
    size_ += size_bytes;
  }

  /// All of the queue if it stands in one place; else, or if there is nothing, empty.
  [[nodiscard]] std::string_view in_one_piece() const noexcept {
    if (first_ == nullptr || first_ != last_) return {};
    return {first_->data, first_->size};
  }
  /// The first parts of the queue, as many as fit; returns how many.
  [[nodiscard]] std::size_t gather(std::span<iovec> parts) const noexcept;
  /// Drops `size_bytes` from the front.
  void consume(std::size_t size_bytes) noexcept {
    if (size_bytes == size_) [[likely]]
      clear();
    else
      consume_part(size_bytes);
  }
  void clear() noexcept {
    while (first_ != nullptr) pop();
    size_ = 0;
  }

 private:
  struct foreign_segment;

  std::span<char> prepare_another(std::size_t size_bytes);
  [[gnu::noinline]] std::span<char> prepare_in_more_memory(std::size_t size_bytes);
  std::span<char> prepare_in(std::uint32_t slot) noexcept;
  [[gnu::noinline]] void consume_part(std::size_t size_bytes) noexcept;
  void push(segment& added) noexcept;
  void pop() noexcept {
    segment& gone = *first_;
    first_ = gone.next;
    if (first_ == nullptr) last_ = nullptr;
    if (gone.slot != segment::no_slot) [[likely]]
      pool_.release(gone.slot);
    else
      drop_foreign(gone);
  }
  void push_foreign(foreign_segment& added) noexcept;
  [[gnu::noinline]] void drop_foreign(segment& gone) noexcept;

  buffer_pool& pool_;
  segment* first_ = nullptr;
  segment* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft::net
