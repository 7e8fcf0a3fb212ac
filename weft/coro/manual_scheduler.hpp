// A scheduler without a loop, stepped by hand: for tests of what needs no more than a ready queue
// and a clock.
//
// Contract: bands in order of urgency, always first in, first out within a band. Nothing
// runs but from run(). Time stands still but in pass(), which fires what is due in order of time,
// and of arming where the times are equal. Arming costs O(timers armed). One thread.
//
//   manual_scheduler ready;
//   scope tasks{{.runs_on = &ready}};
//   tasks.spawn(work());
//   ready.run();
//   ready.pass(std::chrono::seconds{1});
//   ready.run();
#pragma once

#include <cstdint>

#include <weft/base/intrusive_list.hpp>
#include <weft/coro/scheduler.hpp>
#include <weft/coro/timer.hpp>

namespace weft {

class manual_scheduler final : public scheduler {
 public:
  [[nodiscard]] time_point now() const noexcept override { return now_; }

  void arm(timer& t, time_point when) noexcept override {
    t.expiry_tick_ = tick_of(when);
    intrusive_list<timer, &timer::hook> later;
    while (!timers_.empty() && timers_.back()->expiry_tick_ > t.expiry_tick_) {
      timer& behind = *timers_.back();
      timers_.erase(behind);
      later.push_front(behind);
    }
    timers_.push_back(t);
    timers_.splice_back(later);
  }

  void disarm(timer& t) noexcept override {
    if (t.armed()) timers_.erase(t);
  }

  /// Whether a timer is armed: a wait that has ended leaves none behind.
  [[nodiscard]] bool has_timers() const noexcept { return !timers_.empty(); }

  /// Runs the most urgent item. False: there was none.
  bool step() noexcept {
    runnable* const item = ready_.pop();
    if (item == nullptr) return false;
    item->run(*item);
    return true;
  }

  /// Runs all that is queued, and all that this queues.
  void run() noexcept {
    while (step()) {}
  }

  /// Lets `length` pass and fires what is due by then. What this wakes runs in run().
  void pass(duration length) noexcept {
    now_ += length;
    while (!timers_.empty() && timers_.front()->expiry_tick_ <= tick_of(now_)) {
      timer& due = *timers_.pop_front();
      due.kind().on_expiry(due);
    }
  }

 private:
  void check_here(const char*) const noexcept override {}
  /// Nanoseconds here.
  static std::uint64_t tick_of(time_point when) noexcept {
    return static_cast<std::uint64_t>(when.time_since_epoch().count());
  }

  intrusive_list<timer, &timer::hook> timers_;
  time_point now_{};
};

}  // namespace weft
