// Which part of a long reply is made before others have their turn.
//
// Problem: rows are made on the thread that serves all connections, and a batch may have hundreds
// of them, each as long as a value may be. Contract: a sink asks its share after each row; once the
// text has grown by turn_bytes it says so, and begins the next share. The engine then waits for
// next_turn(): all who are ready have a turn, and the kernel is asked what has come. A row is never
// cut. Pure arithmetic, beside next_turn().
//
//   bool is_turn_over() override { return share_.is_used_up(reply_.size()); }
//   if (to.is_turn_over()) co_await next_turn(loop);
#pragma once

#include <cstddef>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/sleep.hpp>

namespace weft::store {

class turn_share {
 public:
  static constexpr std::size_t turn_bytes = 64 * 1024;

  [[nodiscard]] bool is_used_up(std::size_t text_bytes) noexcept {
    if (text_bytes >= begins_at_ && text_bytes - begins_at_ < turn_bytes) return false;
    begins_at_ = text_bytes;
    return true;
  }

 private:
  std::size_t begins_at_ = 0;
};

/// Awaitable: ends the running step of the loop's turn, and goes on after all who are ready.
[[nodiscard]] inline yield next_turn(event_loop& loop) noexcept {
  loop.note_produced(turn_share::turn_bytes);
  return yield{loop};
}

}  // namespace weft::store
