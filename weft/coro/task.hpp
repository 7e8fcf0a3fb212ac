// task<T>: a function that can wait. Lazy: nothing runs until it is awaited or spawned. Awaiting
// hands control over by symmetric transfer, so that a million awaits in a row use one stack frame.
//
// Contract: move-only, awaited at most once, as an rvalue, on one shard. The frame comes from the
// shard's frame_pool and is destroyed by the task object (awaited) or at its end (spawned); a task
// that waits for an operation is never destroyed before the operation has answered. An exception
// that leaves the body is rethrown to whoever awaits; run-time failures are values:
// `task<result<T>>`. A task owns what it keeps: parameters are values (a text is an owned_text), or
// `T&` to an object that outlives the task. Whatever borrows more is a borrowing_task.
//
//   task<int> twice(task<int> inner) { co_return 2 * co_await std::move(inner); }
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/base/intrusive_list.hpp>
#include <weft/base/lifetime_bound.hpp>
#include <weft/coro/environment.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/coro/kept_failure.hpp>
#include <weft/coro/runnable.hpp>
#include <weft/coro/running_task.hpp>

namespace weft {

template <class T = void>
class task;
class scope;

namespace this_task {

/// Tag: `co_await this_task::environment()` reads the environment of the running task, without
/// suspending.
struct environment_t {};
[[nodiscard]] inline constexpr environment_t environment() noexcept { return {}; }

}  // namespace this_task

namespace detail {

template <class T>
class promise;

/// A spawned task has ended: its scope forgets it, and it destroys its frame. (scope.cpp)
void leave_scope(promise<void>& ended) noexcept;

/// What all promises share: whom the coroutine obeys, who waits for it, and where it waits itself.
/// It is a runnable, so that a spawned task waits for its first turn without an allocation.
class promise_base : public runnable {
 public:
  using runnable::runnable;

  static void* operator new(std::size_t size_bytes) { return frame_pool::allocate(size_bytes); }
  static void operator delete(void* frame, std::size_t size_bytes) noexcept {
    frame_pool::deallocate(frame, size_bytes);
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }

  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      Promise& promise = ended.promise();
      if (promise.caller != nullptr) return promise.give_back();
      running.coroutine = nullptr;
      return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };
  final_awaiter final_suspend() const noexcept { return {}; }

  void unhandled_exception() noexcept { failure.keep_current(); }

  template <class Awaitable>
  decltype(auto) await_transform(
      Awaitable&& awaitable, std::source_location here = std::source_location::current()) noexcept {
    waits_at = here;
    return std::forward<Awaitable>(awaitable);
  }

  auto await_transform(this_task::environment_t) noexcept {
    struct awaiter {
      const environment* env;
      bool await_ready() const noexcept { return true; }
      void await_suspend(std::coroutine_handle<>) const noexcept {}
      [[nodiscard]] const environment& await_resume() const noexcept { return *env; }
    };
    return awaiter{env};
  }

  /// Makes `caller_promise` wait for this coroutine, in `in` or else in the caller's environment.
  void await_from(promise_base& caller_promise, const environment* in = nullptr) noexcept {
    caller = &caller_promise;
    caller_promise.waits_for = this;
    env = in != nullptr ? in : caller_promise.env;
  }
  /// Ends that wait; the caller, to be resumed.
  [[nodiscard]] std::coroutine_handle<> give_back() noexcept {
    caller->waits_for = nullptr;
    running.coroutine = caller;
    return std::exchange(caller, nullptr)->handle();
  }
  /// All promises begin with this one, and are aligned as it is.
  [[nodiscard]] std::coroutine_handle<> handle() noexcept {
    return std::coroutine_handle<promise_base>::from_promise(*this);
  }

  promise_base* caller = nullptr;     // the coroutine that awaits this one
  promise_base* waits_for = nullptr;  // and the one that this awaits
  kept_failure failure;
  std::source_location waits_at;  // its last co_await, or where its body begins
  const environment* env;         // from when it is awaited or spawned
};

/// Resumes a coroutine that has waited: the task that this thread runs from now on.
inline void resume(std::coroutine_handle<> waiting) noexcept {
  auto& promise = std::coroutine_handle<promise_base>::from_address(waiting.address()).promise();
  running.coroutine = &promise;
  running.resumed_at.store(promise.waits_at, std::memory_order_relaxed);
  // Itanium-like ABIs begin a frame with the function that resumes it. Called as what throws
  // nothing, for nothing leaves a promise here, it needs no frame of the stack to catch in.
  using resume_function = void (*)(void*) noexcept;
  (*static_cast<resume_function*>(waiting.address()))(waiting.address());
}

template <class T>
class promise : public promise_base {
 public:
  static_assert(alignof(T) <= alignof(std::max_align_t), "a task gives no over-aligned value");

  promise() noexcept : promise_base{nullptr} {}
  promise(const promise&) = delete;
  promise& operator=(const promise&) = delete;
  ~promise() {
    if (has_value_) std::destroy_at(&value_);
  }

  task<T> get_return_object(
      std::source_location begins_at = std::source_location::current()) noexcept;

  template <class U>
    requires std::is_constructible_v<T, U&&>
  void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U&&>) {
    std::construct_at(&value_, std::forward<U>(value));
    has_value_ = true;
  }
  void return_value(T&& value) noexcept(std::is_nothrow_move_constructible_v<T>) {
    std::construct_at(&value_, std::move(value));
    has_value_ = true;
  }

  T take() {
    failure.rethrow_if_any();
    return std::move(value_);
  }

 private:
  union {
    T value_;
  };
  bool has_value_ = false;
};

template <>
class promise<void> : public promise_base {
 public:
  promise() noexcept : promise_base{&start} {}
  task<void> get_return_object(
      std::source_location begins_at = std::source_location::current()) noexcept;
  void return_void() const noexcept {}
  void take() { failure.rethrow_if_any(); }

  /// Nobody waits for a spawned task, so it does not wait for its end: its frame goes with it.
  struct end_awaiter {
    promise& ended;
    bool await_ready() const noexcept {
      if (ended.caller != nullptr) return false;
      running.coroutine = nullptr;
      leave_scope(ended);
      return true;
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
      return ended.give_back();
    }
    void await_resume() const noexcept {}
  };
  end_awaiter final_suspend() noexcept { return {*this}; }

  scope* owner;  // of a spawned task
  list_link spawned;

 private:
  static void start(runnable& item) noexcept { resume(static_cast<promise&>(item).handle()); }
};

template <class T>
struct task_awaiter {
  std::coroutine_handle<promise<T>> frame;
  const environment* narrowed = nullptr;  // instead of the caller's

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> caller) const noexcept {
    frame.promise().await_from(caller.promise(), narrowed);
    return frame;
  }
  T await_resume() const { return frame.promise().take(); }
};

}  // namespace detail

template <class T>
class [[nodiscard("a task does nothing until it is awaited or spawned")]] task {
 public:
  using promise_type = detail::promise<T>;
  using value_type = T;

  task(task&& other) noexcept : frame_{std::exchange(other.frame_, nullptr)} {}
  task& operator=(task&& other) noexcept {
    task{std::move(other)}.swap(*this);
    return *this;
  }
  ~task() {
    if (frame_) frame_.destroy();
  }

  void swap(task& other) noexcept { std::swap(frame_, other.frame_); }

  /// Whether there is a coroutine: false for one moved from.
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(frame_); }

  auto operator co_await() && noexcept { return awaited_in(nullptr); }

  /// As co_await, but the task and all it awaits live in `env`, which must outlive it, instead of
  /// the caller's environment: `co_await std::move(work).in(env)`.
  [[nodiscard]] auto in(const environment& env WEFT_LIFETIME_BOUND) && noexcept {
    return awaited_in(&env);
  }

  /// Hands the frame to whoever spawns it. Framework use.
  [[nodiscard]] std::coroutine_handle<promise_type> release() noexcept {
    return std::exchange(frame_, nullptr);
  }

 private:
  friend promise_type;
  explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_{frame} {}

  auto awaited_in(const environment* narrowed) noexcept {
    WEFT_DEBUG_ASSERT(frame_ && frame_.promise().caller == nullptr && !frame_.done(),
                      "a task can be awaited once only");
    return detail::task_awaiter<T>{frame_, narrowed};
  }

  std::coroutine_handle<promise_type> frame_;
};

namespace detail {

template <class T>
task<T> promise<T>::get_return_object(std::source_location begins_at) noexcept {
  waits_at = begins_at;
  return task<T>{std::coroutine_handle<promise>::from_promise(*this)};
}

inline task<void> promise<void>::get_return_object(std::source_location begins_at) noexcept {
  waits_at = begins_at;
  return task<void>{std::coroutine_handle<promise>::from_promise(*this)};
}

/// A function that scopes may spawn: called, it gives a task.
template <class F>
concept makes_task = std::same_as<std::invoke_result_t<F&>, task<void>>;

/// Keeps what it calls, and so what the captures of a lambda are to its coroutine.
template <makes_task F>
task<void> call_kept(F work) {
  co_await work();
}

}  // namespace detail

}  // namespace weft
