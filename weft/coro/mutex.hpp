// One at a time, across co_await: what a task began before it waited, it ends before another one
// begins.
//
// Problem: on one shard nothing runs in parallel, but whoever waits in the middle of a change lets
// others in. Contract: lock() gives a guard that unlocks when it ends; first come, first served,
// and unlocking hands the mutex over, so that nobody who comes later is before who waits. A waiter
// that is asked to stop, or whose deadline passes, leaves the line; one that has been handed the
// mutex gets it, though it is asked to stop before it runs. Not recursive. Outlives guards and
// waiters. Allocates nothing. One shard.
//
//   auto locked = co_await ledger.lock();
//   if (!locked) co_return fail(locked.error());
//   co_await book(entry);  // nobody else is in here
#pragma once

#include <optional>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/coro/waiter.hpp>

namespace weft {

class mutex;

/// Holds a mutex for as long as it lives, or until unlock().
class [[nodiscard]] lock_guard {
 public:
  lock_guard(lock_guard&& other) noexcept : held_{std::exchange(other.held_, nullptr)} {}
  lock_guard& operator=(lock_guard&& other) noexcept {
    lock_guard taken{std::move(other)};
    std::swap(held_, taken.held_);
    return *this;
  }
  ~lock_guard() { unlock(); }

  /// Early; the second time it does nothing.
  void unlock() noexcept;

 private:
  friend class mutex;
  explicit lock_guard(mutex& held) noexcept : held_{&held} {}
  mutex* held_;
};

class mutex {
  class [[nodiscard]] lock_wait final : public waiter {
   public:
    explicit lock_wait(mutex& wanted) noexcept : mutex_{wanted} {}
    [[nodiscard]] result<lock_guard> await_resume() const noexcept {
      if (!outcome()) return fail(outcome().error());
      return lock_guard{mutex_};
    }

   private:
    friend waiter;
    wait_line& line() noexcept { return mutex_.line_; }
    bool take() noexcept { return !std::exchange(mutex_.locked_, true); }
    mutex& mutex_;
  };

 public:
  mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() { WEFT_ASSERT(!locked_, "a mutex outlives the guards that hold it"); }

  /// Awaitable, gives result<lock_guard>: until the mutex is this task's.
  lock_wait lock() noexcept { return lock_wait{*this}; }

  /// Nothing if somebody holds it. Looks at neither stop request nor deadline.
  [[nodiscard]] std::optional<lock_guard> try_lock() noexcept {
    if (std::exchange(locked_, true)) return std::nullopt;
    return lock_guard{*this};
  }

  [[nodiscard]] bool is_locked() const noexcept { return locked_; }

 private:
  friend class lock_guard;
  void unlock() noexcept {
    if (line_.empty())
      locked_ = false;
    else
      line_.front()->wake();
  }

  wait_line line_;
  bool locked_ = false;
};

inline void lock_guard::unlock() noexcept {
  if (held_ != nullptr) std::exchange(held_, nullptr)->unlock();
}

}  // namespace weft
