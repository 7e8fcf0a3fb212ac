// A number of permits: so many at a time, across co_await.
//
// Contract: acquire(n) takes n permits or waits until it is the first in line and n are there, so
// that a large wish is not starved by small ones behind it. Permits are given back by release(n),
// by whoever has them; there may be more than at the start. A waiter that is asked to stop, or
// whose deadline passes, leaves the line with nothing, and the next may have what it was too early
// for; one that has been given its permits has them, though it is asked to stop before it runs.
// Outlives who waits. Allocates nothing. One shard.
//
//   semaphore connections{100};
//   if (auto permit = co_await connections.acquire(); !permit) co_return fail(permit.error());
//   co_await fetch(url);
//   connections.release();
#pragma once

#include <cstddef>

#include <weft/coro/waiter.hpp>

namespace weft {

class semaphore {
  class [[nodiscard]] acquire_wait final : public waiter {
   public:
    acquire_wait(semaphore& from, std::size_t count) noexcept : semaphore_{from}, count_{count} {}
    [[nodiscard]] result<void> await_resume() const noexcept {
      // One who has given up may have wished for more than those behind it do.
      if (!outcome()) semaphore_.serve_line();
      return outcome();
    }

   private:
    friend class semaphore;
    friend waiter;
    wait_line& line() noexcept { return semaphore_.line_; }
    bool take() noexcept { return semaphore_.try_acquire(count_); }
    semaphore& semaphore_;
    std::size_t count_;
  };

 public:
  explicit semaphore(std::size_t permits) noexcept : available_{permits} {}

  /// Awaitable, gives result<void>: until `count` permits are this task's.
  acquire_wait acquire(std::size_t count = 1) noexcept { return {*this, count}; }

  /// Takes all or none; none while others wait. Looks at neither stop request nor deadline.
  [[nodiscard]] bool try_acquire(std::size_t count = 1) noexcept {
    if (!line_.empty() || available_ < count) return false;
    available_ -= count;
    return true;
  }

  void release(std::size_t count = 1) noexcept {
    available_ += count;
    serve_line();
  }

  [[nodiscard]] std::size_t available() const noexcept { return available_; }

 private:
  void serve_line() noexcept {
    while (waiter* const first = line_.front()) {
      const std::size_t count = static_cast<acquire_wait*>(first)->count_;
      if (available_ < count) return;
      available_ -= count;
      first->wake();
    }
  }

  wait_line line_;
  std::size_t available_;
};

}  // namespace weft
