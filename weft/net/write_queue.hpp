// Bytes on their way out: owned segments, gathered into as few sends as the kernel takes.
//
// Contract: the queue owns what is put in. Small writes are copied into a shared pool slot, so that
// the replies to pipelined requests leave in one send; large ones keep their own memory. What
// gather() returned stays valid, and in place, until consume() says that it has been sent, whatever
// is appended meanwhile. One shard.
//
//   queue.append(text);
//   queue.gather(parts);
//   queue.consume(sent);
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <weft/loop/buffer_pool.hpp>

namespace weft::net {

class write_queue {
 public:
  explicit write_queue(buffer_pool& pool) noexcept : pool_{pool} {}
  write_queue(const write_queue&) = delete;
  write_queue& operator=(const write_queue&) = delete;
  ~write_queue() { clear(); }

  /// Bytes not yet consumed.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  void append(std::string_view text);
  void append(std::string&& text);
  void append(buffer_ref&& bytes);

  /// Room for `size_bytes` (at most buffer_pool::slot_capacity) to be written in place, then
  /// commit()ted.
  [[nodiscard]] std::span<char> prepare(std::size_t size_bytes);
  void commit(std::size_t size_bytes) noexcept;

  /// The first parts of the queue, as many as fit; returns how many.
  [[nodiscard]] std::size_t gather(std::span<iovec> parts) const noexcept;
  /// Drops `size_bytes` from the front.
  void consume(std::size_t size_bytes) noexcept;
  void clear() noexcept;

 private:
  struct segment;
  segment& push();
  void pop() noexcept;

  buffer_pool& pool_;
  segment* first_ = nullptr;
  segment* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft::net
