// How a coroutine waits for another one: the part that event, mutex, semaphore and channel share.
// Obeys the stop request and the deadline of its environment, as every wait does.
//
// Contract: an awaiter derives from waiter and says in take() whether what it wants is there. If it
// is not, the waiter stands at the end of its line() until whoever owns the line calls wake(), the
// task is asked to stop, or its deadline passes: whatever comes first takes it out of the line and
// is the answer, so that nothing is ever given to one who has left. A stop request or a deadline
// passed before the wait began answers without asking take(). The coroutine is resumed from the
// ready queue, never from inside a call. A line outlives those who stand in it. Allocates nothing.
// One shard.
//
//   class [[nodiscard]] lock_wait final : public waiter {
//    public:
//     explicit lock_wait(mutex& m) noexcept : mutex_{m} {}
//     result<lock_guard> await_resume() noexcept { ... outcome() ... }
//    private:
//     friend waiter;
//     wait_line& line() noexcept { return mutex_.line_; }
//     bool take() noexcept { return mutex_.try_take(); }
//     mutex& mutex_;
//   };
#pragma once

#include <coroutine>

#include <weft/base/assert.hpp>
#include <weft/base/intrusive_list.hpp>
#include <weft/base/rare_call.hpp>
#include <weft/base/result.hpp>
#include <weft/coro/environment.hpp>
#include <weft/coro/runnable.hpp>
#include <weft/coro/timer.hpp>

namespace weft {

class wait_line;

class waiter : private stop_registration, private timer, private runnable {
 public:
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  bool await_ready() const noexcept { return false; }
  /// `Self`: the awaiter, whose take() is asked once, before the wait, and takes what it gives.
  template <class Self, class Promise>
  bool await_suspend(this Self& self, std::coroutine_handle<Promise> waiting) noexcept {
    waiter& base = self;
    const environment& env = *waiting.promise().env;
    if (base.is_too_late(env) || self.take()) return false;
    base.stand_in_line(self.line(), waiting, env);
    return true;
  }

  /// Ends the wait of one who stands in line.
  void wake() noexcept {
    place_.unlink();
    go_on();
  }
  void wake(result<void> outcome) noexcept {
    answer(outcome);
    wake();
  }

 protected:
  waiter() noexcept : stop_registration{&on_stop}, timer{deadline_kind}, runnable{&on_run} {}
  ~waiter() = default;

  /// How the wait ended, for await_resume().
  [[nodiscard]] const result<void>& outcome() const noexcept { return outcome_; }
  /// For take(), when the answer it found is a failure.
  void answer(result<void> outcome) noexcept { outcome_ = outcome; }

 private:
  friend class wait_line;

  [[nodiscard]] bool is_too_late(const environment& env) noexcept {
    if (env.stop.stop_requested()) [[unlikely]] {
      outcome_ = fail(errc::cancelled);
      return true;
    }
    return !env.until.is_never() && is_overdue(env);
  }
  [[nodiscard]] bool is_overdue(const environment& env) noexcept;
  void stand_in_line(wait_line& line, std::coroutine_handle<> waiting,
                     const environment& env) noexcept;
  void go_on() noexcept;
  WEFT_RARE_CALL void disarm_deadline() noexcept;
  static void on_stop(stop_registration& self) noexcept;
  static void on_deadline(timer& self) noexcept;
  static void on_run(runnable& self) noexcept;
  static std::coroutine_handle<> owner_of(const timer& self) noexcept {
    return std::coroutine_handle<>::from_address(static_cast<const waiter&>(self).waiting_);
  }
  static constexpr timer_kind deadline_kind{
      .on_expiry = &on_deadline, .name = "deadline of a wait in line", .owner = &owner_of};

  result<void> outcome_;
  // Of one who stands in line, and written only then: not to wait is the common case.
  list_link place_;
  scheduler* runs_on_;
  void* waiting_;  // the address of the coroutine
};

/// Who waits for one thing, first come, first served.
class wait_line {
 public:
  wait_line() noexcept = default;
  wait_line(const wait_line&) = delete;
  wait_line& operator=(const wait_line&) = delete;
  ~wait_line() { WEFT_ASSERT(empty(), "what tasks wait for outlives them: end the tasks first"); }

  [[nodiscard]] bool empty() const noexcept { return waiters_.empty(); }
  /// nullptr when empty.
  [[nodiscard]] waiter* front() noexcept { return waiters_.front(); }

  void wake_all() noexcept {
    while (waiter* const first = waiters_.pop_front()) first->go_on();
  }
  void wake_all(result<void> outcome) noexcept {
    while (waiter* const first = front()) first->wake(outcome);
  }

 private:
  friend class waiter;
  intrusive_list<waiter, &waiter::place_> waiters_;
};

}  // namespace weft
