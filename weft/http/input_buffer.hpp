// The bytes of a connection that have been received and not yet used up, always in one piece.
//
// Contract: in the common case the piece is the pool slot the bytes arrived in, and nothing is
// copied. A request that spans receives is gathered once in memory of its own, which is freed with
// it. consume() moves no bytes; append() may, so that views into text() are renewed after it. An
// idle connection holds nothing here.
//
//   input.append(std::move(*bytes));
//   parser.parse(input.text(), head, limits);
//   input.consume(head.size_bytes());
#pragma once

#include <string>
#include <string_view>

#include <weft/loop/buffer_pool.hpp>

namespace weft::http {

class input_buffer {
 public:
  [[nodiscard]] std::string_view text() const noexcept {
    return gathered_.empty() ? slot_.text() : std::string_view{gathered_}.substr(used_);
  }
  [[nodiscard]] bool empty() const noexcept { return text().empty(); }

  void append(buffer_ref&& bytes);
  /// Uses up `size_bytes` from the front, at most text().size().
  void consume(std::size_t size_bytes) noexcept;
  /// Drops what lies behind the first `size_bytes`, at most text().size().
  void truncate(std::size_t size_bytes) noexcept;

 private:
  buffer_ref slot_;
  std::string gathered_;
  std::size_t used_ = 0;  // of gathered_
};

}  // namespace weft::http
