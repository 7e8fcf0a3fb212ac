// Waiting for time to pass, and for file descriptors that others own.
//
// Contract: each wait ends early with errc::cancelled when the task is asked to stop, with
// errc::timed_out when its deadline passes. readable() and writable() watch a descriptor that stays
// its owner's (a C library's socket, a signalfd) and must not be closed while watched; one waiter a
// direction.
//
//   auto slept = co_await sleep_for(loop, std::chrono::milliseconds{100});
//   auto ready = co_await readable(loop, fd);
#pragma once

#include <coroutine>

#include <weft/base/result.hpp>
#include <weft/loop/wait.hpp>

namespace weft {

/// Awaitable: sleeps until `when`.
class [[nodiscard]] sleep_until : private timer, private stop_registration, private runnable {
 public:
  sleep_until(event_loop& loop, time_point when) noexcept
      : timer{kind}, stop_registration{&on_stop}, runnable{&on_run}, loop_{loop}, when_{when} {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    return begin(waiting, *waiting.promise().env);
  }
  [[nodiscard]] result<void> await_resume() const noexcept { return outcome_; }

 private:
  bool begin(std::coroutine_handle<> waiting, const environment& env) noexcept;
  void wake(result<void> outcome) noexcept;
  static void on_timer(timer& self) noexcept;
  static void on_stop(stop_registration& self) noexcept;
  static void on_run(runnable& self) noexcept;
  static std::coroutine_handle<> owner_of(const timer& self) noexcept {
    return static_cast<const sleep_until&>(self).waiting_;
  }
  static constexpr timer_kind kind{.on_expiry = &on_timer, .name = "sleep", .owner = &owner_of};

  event_loop& loop_;
  time_point when_;
  std::coroutine_handle<> waiting_;
  bool deadline_first_ = false;
  result<void> outcome_;
};

[[nodiscard]] inline sleep_until sleep_for(event_loop& loop, duration length) noexcept {
  return {loop, loop.now() + length};
}

/// Awaitable: until `fd` can be read (or written), has failed, or was hung up.
class [[nodiscard]] poll_wait : public operation_awaiter<poll_operation> {
 public:
  poll_wait(event_loop& loop, operation_kind direction, int fd) noexcept
      : operation_awaiter{loop, direction, fd} {}
  [[nodiscard]] result<void> await_resume() const noexcept {
    if (operation_.result < 0) return fail(operation_.failure());
    return {};
  }
};

[[nodiscard]] inline poll_wait readable(event_loop& loop, int fd) noexcept {
  return {loop, operation_kind::readable, fd};
}
[[nodiscard]] inline poll_wait writable(event_loop& loop, int fd) noexcept {
  return {loop, operation_kind::writable, fd};
}

/// Awaitable: until the task is asked to stop.
class [[nodiscard]] until_stopped : private stop_registration, private runnable {
 public:
  explicit until_stopped(event_loop& loop) noexcept
      : stop_registration{&on_stop}, runnable{&on_run}, loop_{loop} {}
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    const stop_token stop = waiting.promise().env->stop;
    if (stop.stop_requested()) return false;
    waiting_ = waiting;
    stop.subscribe(*this);
    return true;
  }
  void await_resume() const noexcept {}

 private:
  static void on_stop(stop_registration& self) noexcept {
    auto& waiter = static_cast<until_stopped&>(self);
    waiter.loop_.schedule(waiter);
  }
  static void on_run(runnable& self) noexcept {
    detail::resume(static_cast<until_stopped&>(self).waiting_);
  }
  event_loop& loop_;
  std::coroutine_handle<> waiting_;
};

/// Awaitable: gives way to all who are ready, of normal priority or more urgent, and to those who
/// become so until the loop asks the kernel again; goes on in the band of low priority, of which
/// one has a turn whenever the loop asks the kernel, however busy the shard is.
class [[nodiscard]] yield : private giving_way {
 public:
  explicit yield(event_loop& loop) noexcept : loop_{loop} {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> resumed) noexcept {
    waiting = resumed;
    loop_.schedule(*this, priority::low);
  }
  void await_resume() const noexcept {}

 private:
  event_loop& loop_;
};

}  // namespace weft
