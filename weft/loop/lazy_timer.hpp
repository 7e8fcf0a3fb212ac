// A deadline that moves all the time and is hardly ever reached: a connection's.
//
// Contract: postpone() is a store; the wheel is touched when an expiry comes and finds the deadline moved, at most once a
// length of it. Fires at the deadline or up to a tick after. A deadline that moves nearer is heeded no earlier than the
// expiry armed before it, unless arm() is called again. Disarmed when destroyed. One shard.
//
//   lazy_timer idle{loop, &on_idle};
//   idle.arm(loop.now() + std::chrono::seconds{60});
//   idle.postpone(loop.now() + std::chrono::seconds{60});   // for each request
#pragma once

#include <weft/loop/event_loop.hpp>

namespace weft {

class lazy_timer : private timer {
 public:
  using function = void (*)(lazy_timer&) noexcept;

  lazy_timer(event_loop& loop, function on_expiry) noexcept
      : timer{&on_timer}, loop_{loop}, on_expiry_{on_expiry} {}
  ~lazy_timer() { disarm(); }

  /// From now on `deadline` is heeded exactly.
  void arm(time_point deadline) noexcept {
    loop_.timers().disarm(*this);
    deadline_ = deadline;
    loop_.timers().arm(*this, deadline);
  }
  void postpone(time_point deadline) noexcept { deadline_ = deadline; }
  void disarm() noexcept { loop_.timers().disarm(*this); }

  [[nodiscard]] time_point due() const noexcept { return deadline_; }

 private:
  static void on_timer(timer& self) noexcept {
    auto& lazy = static_cast<lazy_timer&>(self);
    if (lazy.deadline_ > lazy.loop_.now())
      lazy.loop_.timers().arm(lazy, lazy.deadline_);
    else
      lazy.on_expiry_(lazy);
  }

  event_loop& loop_;
  function on_expiry_;
  time_point deadline_;
};

}  // namespace weft
