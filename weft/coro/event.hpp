// Something that has happened or not yet, and tasks that wait for it.
//
// Contract: set() wakes all who wait and lets through all who come, until reset(). Who was woken
// has seen the event, though it is reset before it runs. Waiting ends with errc::cancelled or
// errc::timed_out as the environment says (docs/cancellation.md). Outlives those who wait for it.
// Allocates nothing. One shard.
//
//   event connected;
//   if (auto waited = co_await connected.wait(); !waited) co_return fail(waited.error());
//   ...
//   connected.set();
#pragma once

#include <weft/coro/waiter.hpp>

namespace weft {

class event {
  class [[nodiscard]] event_wait final : public waiter {
   public:
    explicit event_wait(event& awaited) noexcept : event_{awaited} {}
    [[nodiscard]] result<void> await_resume() const noexcept { return outcome(); }

   private:
    friend waiter;
    wait_line& line() noexcept { return event_.line_; }
    bool take() noexcept { return event_.set_; }
    event& event_;
  };

 public:
  [[nodiscard]] bool is_set() const noexcept { return set_; }

  void set() noexcept {
    set_ = true;
    line_.wake_all();
  }
  void reset() noexcept { set_ = false; }

  /// Awaitable, gives result<void>: until the event is set.
  event_wait wait() noexcept { return event_wait{*this}; }

 private:
  wait_line line_;
  bool set_ = false;
};

}  // namespace weft
