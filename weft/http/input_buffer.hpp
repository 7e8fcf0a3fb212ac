// The bytes of a connection that have been received and not yet used up, always in one piece.
//
// Contract: in the common case the piece is the pool slot the bytes arrived in, and nothing is
// copied. A request that spans receives is gathered once in memory of its own, which is freed with
// it. consume() moves no bytes; append() and leave_slot() may, so that views into text() are
// renewed after them. Memory of its own counts as the shard's, which make_room() has been given
// some of or not. An idle connection holds nothing here.
//
//   input.append(std::move(*bytes));
//   parser.parse(input.text(), head, limits);
//   input.consume(head.size_bytes());
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <weft/loop/buffer_pool.hpp>
#include <weft/loop/memory_share.hpp>

namespace weft::http {

class input_buffer {
 public:
  input_buffer() noexcept = default;
  input_buffer(const input_buffer&) = delete;
  input_buffer& operator=(const input_buffer&) = delete;

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }

  void append(buffer_ref&& bytes);
  /// Uses up `size_bytes` from the front, at most text().size().
  void consume(std::size_t size_bytes) noexcept;
  /// Before the rest of what has begun is waited for: the slot, which others may need meanwhile, is
  /// given back, and what has come is kept in memory of its own, with room for so much more.
  void leave_slot(std::size_t room_bytes = 0);
  /// The slot is given back, and `size_bytes` more will come, for which `memory` was reserved.
  void make_room(std::size_t size_bytes, memory_reservation memory);
  /// Of memory that is counted as this buffer's.
  [[nodiscard]] std::size_t counted_bytes() const noexcept { return counted_.bytes(); }
  /// Drops what lies behind the first `size_bytes`, at most text().size().
  void truncate(std::size_t size_bytes) noexcept;

 private:
  void gather(buffer_ref&& bytes);
  void count() noexcept;

  std::string_view text_;  // in one of these
  buffer_ref slot_;
  std::unique_ptr<std::string> gathered_;
  memory_share* memory_ = nullptr;  // that the slot belonged to
  memory_reservation counted_;
};

}  // namespace weft::http
