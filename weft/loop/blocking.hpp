// Work that must block: a few threads beside the loop, so that the loop goes on meanwhile.
//
//   auto text = co_await blocking([path] { return read_file(path); });      // result<std::string>
//
// Contract: `f` runs on a thread of the loop's pool, and its result or exception comes back here.
// It stays in the caller's frame meanwhile, and knows nothing of loops. Threads are started when
// there is work for them, blocking_threads at most, and end with the loop. So many calls may wait
// for a thread (blocking_queue_max); one more gives errc::limit_exceeded. Where the system starts
// no thread at all a call gives errc::exhausted. A caller that is asked to
// stop, or whose deadline passes, while its call still waits gets errc::cancelled or
// errc::timed_out, and `f` never runs; once it runs it is awaited, and what it gives is given. In a
// simulated loop it runs at once, on the loop. Allocates nothing but the threads.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/call_result.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft {

class blocking_pool;

namespace detail {

/// The part of a call that does not depend on what is called: it waits for a thread, runs on it,
/// and comes back.
class blocking_call : private stop_registration, private timer, private runnable {
 public:
  blocking_call(const blocking_call&) = delete;
  blocking_call& operator=(const blocking_call&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    return begin(waiting, *waiting.promise().env);
  }

 protected:
  using work_function = void (*)(blocking_call& self) noexcept;
  blocking_call(event_loop& home, work_function work) noexcept
      : stop_registration{&on_stop},
        timer{deadline_kind},
        runnable{&on_run},
        home_{home},
        work_{work} {}
  ~blocking_call() = default;

  [[nodiscard]] std::optional<error> refusal() const noexcept { return refusal_; }

 private:
  friend class weft::blocking_pool;
  bool begin(std::coroutine_handle<> waiting, const environment& env);
  bool refuse(error why) noexcept;
  void give_up(errc why) noexcept;
  static void on_stop(stop_registration& self) noexcept;
  static void on_deadline(timer& self) noexcept;
  static void on_run(runnable& self) noexcept;
  static std::coroutine_handle<> owner_of(const timer& self) noexcept {
    return static_cast<const blocking_call&>(self).waiting_;
  }
  static constexpr timer_kind deadline_kind{
      .on_expiry = &on_deadline, .name = "deadline of a blocking call", .owner = &owner_of};

  event_loop& home_;
  work_function work_;
  std::coroutine_handle<> waiting_;
  std::optional<error> refusal_;
  list_hook in_line_;  // the pool's
};

template <class F>
class blocking_call_of final : public blocking_call {
 public:
  using value = result_of<F>;

  blocking_call_of(event_loop& home, F& f) noexcept : blocking_call{home, &work}, function_{f} {}

  value await_resume() {
    if (const auto why = refusal()) return fail(*why);
    if (failure_) std::rethrow_exception(std::move(failure_));
    return std::move(*value_);
  }

 private:
  static void work(blocking_call& base) noexcept {
    auto& self = static_cast<blocking_call_of&>(base);
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
        self.function_();
        self.value_.emplace();
      } else {
        self.value_.emplace(self.function_());
      }
    } catch (...) {
      self.failure_ = std::current_exception();
    }
  }

  F& function_;
  std::optional<value> value_;
  std::exception_ptr failure_;
};

}  // namespace detail

template <class F>
  requires std::is_invocable_v<F&>
[[nodiscard]] task<detail::result_of<F>> blocking(F f) {
  static_assert(!detail::gives_task<F>, "a task needs its loop: blocking() is for plain functions");
  static_assert(!std::is_reference_v<std::invoke_result_t<F&>>, "give a value, not a reference");
  co_return co_await detail::blocking_call_of<F>{event_loop::current(), f};
}

}  // namespace weft
