// A deadline that moves all the time and is hardly ever reached: a connection's.
//
// Contract: set() is a store and a comparison; the wheel is touched only when the deadline comes
// nearer than the expiry that is armed, or when that expiry comes and finds the deadline moved
// away. Fires once, at the deadline or up to a tick after; time_point::max() never does. Disarmed
// when destroyed. One shard.
//
//   static constexpr lazy_timer::kind idle_kind{&on_idle, "idle time of a client"};
//   lazy_timer idle{loop, idle_kind};
//   idle.set(loop.now() + std::chrono::seconds{60});   // for each request
#pragma once

#include <weft/loop/event_loop.hpp>

namespace weft {

class lazy_timer : private timer {
 public:
  using function = void (*)(lazy_timer&) noexcept;

  struct kind : timer_kind {
    constexpr kind(lazy_timer::function f, std::string_view name) noexcept
        : timer_kind{.on_expiry = &on_timer, .name = name}, on_deadline{f} {}
    lazy_timer::function on_deadline;
  };

  /// `of` lasts as long as the program.
  lazy_timer(event_loop& loop, const kind& of) noexcept : timer{of}, loop_{loop} {}
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
      static_cast<const kind&>(lazy.timer::kind()).on_deadline(lazy);
    }
  }

  time_point deadline_ = time_point::max();
  time_point armed_for_ = time_point::max();
};

}  // namespace weft
