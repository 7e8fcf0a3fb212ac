// Where a message lies that did not come in one piece.
//
// Problem: nearly all messages are short, and to allocate for each is dear; a few are long.
// Contract: internal to http. A slot of the shard's pool serves the first 4 KiB; what is longer
// moves to memory of its own. An empty one holds nothing, so that idle connections do not either.
// Movable; views end with clear(), a move or the next byte that is added. One shard.
//
//   memory.append(fragment);
//   use(memory.text());
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <weft/loop/buffer_pool.hpp>
#include <weft/loop/memory_share.hpp>

namespace weft::http::ws {

class message_memory {
 public:
  explicit message_memory(buffer_pool& pool) noexcept : pool_{&pool} {}

  [[nodiscard]] buffer_pool& pool() const noexcept { return *pool_; }
  [[nodiscard]] std::string_view text() const noexcept {
    return large_ != nullptr ? std::string_view{large_->text} : slot_.text();
  }
  [[nodiscard]] bool empty() const noexcept { return text().empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return text().size(); }

  void append(std::string_view bytes);
  /// Room behind what is there, never empty; then commit() what was written.
  [[nodiscard]] std::span<char> prepare();
  void commit(std::size_t size_bytes) noexcept;
  /// Takes over a slot in which a whole message lies already.
  void hold(buffer_ref&& slot) noexcept { slot_ = std::move(slot); }

  void clear() noexcept {
    slot_.reset();
    large_.reset();
    room_bytes_ = 0;
  }

 private:
  void grow(std::size_t least_bytes);
  void count() noexcept;

  buffer_pool* pool_;
  buffer_ref slot_;
  struct counted_text {
    std::string text;
    memory_reservation counted;
  };
  std::unique_ptr<counted_text> large_;
  std::size_t room_bytes_ = 0;  // at the end of large_->text, given by prepare()
};

}  // namespace weft::http::ws
