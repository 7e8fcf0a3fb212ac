// How many steps of handshakes a loop takes in a turn.
//
// Problem: a private-key operation takes a CPU for up to a millisecond, and a thousand clients may
// come at once: those who are served already would wait for all of them. Contract: `per_turn` may
// pass in each turn of the loop; the others wait in line, for as long as their task may. One a
// loop, which it does not outlive; it outlives who waits. Allocates nothing.
//
//   if (auto turn = co_await gate.pass(); !turn) co_return fail(turn.error());
#pragma once

#include <utility>

#include <weft/coro/semaphore.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft::net {

class handshake_gate : private flushable {
 public:
  static constexpr unsigned per_turn_default = 2;

  explicit handshake_gate(event_loop& loop, unsigned per_turn = per_turn_default) noexcept
      : flushable{&on_turn_end}, loop_{loop}, free_{per_turn} {}
  handshake_gate(const handshake_gate&) = delete;
  handshake_gate& operator=(const handshake_gate&) = delete;
  ~handshake_gate() {
    if (hook.is_linked()) hook.unlink();
  }

  /// Waits for its turn. errc::cancelled and errc::timed_out as every wait.
  [[nodiscard]] task<result<void>> pass() {
    const auto turn = co_await free_.acquire();
    if (turn) {
      ++used_;
      loop_.flush_later(*this);
    }
    co_return turn;
  }

 private:
  static void on_turn_end(flushable& self) noexcept {
    auto& gate = static_cast<handshake_gate&>(self);
    gate.free_.release(std::exchange(gate.used_, 0));
  }

  event_loop& loop_;
  semaphore free_;
  unsigned used_ = 0;
};

}  // namespace weft::net
