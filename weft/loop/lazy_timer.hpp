// A deadline that moves all the time and is hardly ever reached: a connection's.
//
// Contract: set() is a store and a comparison; the wheel is touched only when the deadline comes
// nearer than the expiry that is armed, or when that expiry comes and finds the deadline moved
// away. Fires once, at the deadline or up to a tick after; time_point::max() never does. Disarmed
// when destroyed. One shard.
//
//   lazy_timer idle{loop, &on_idle};
//   idle.set(loop.now() + std::chrono::seconds{60});   // for each request
#pragma once

#include <weft/loop/event_loop.hpp>

namespace weft {

class lazy_timer : private timer {
 public:
  using function = void (*)(lazy_timer&) noexcept;

  lazy_timer(event_loop& loop, function on_expiry) noexcept
      : timer{&on_timer}, loop_{loop}, on_expiry_{on_expiry} {}
  ~lazy_timer() { loop_.timers().disarm(*this); }

  void set(time_point deadline) noexcept {
    deadline_ = deadline;
    if (deadline < armed_for_) arm();
  }

  [[nodiscard]] time_point deadline() const noexcept { return deadline_; }

 protected:
  event_loop& loop_;

 private:
  void arm() noexcept {
    loop_.timers().disarm(*this);
    armed_for_ = deadline_;
    if (deadline_ != time_point::max()) loop_.timers().arm(*this, deadline_);
  }

  static void on_timer(timer& self) noexcept {
    auto& lazy = static_cast<lazy_timer&>(self);
    lazy.armed_for_ = time_point::max();
    if (lazy.deadline_ > lazy.loop_.now()) {
      lazy.arm();
    } else {
      lazy.deadline_ = time_point::max();
      lazy.on_expiry_(lazy);
    }
  }

  function on_expiry_;
  time_point deadline_ = time_point::max();
  time_point armed_for_ = time_point::max();
};

}  // namespace weft
