// Calling another shard: runs a function there and gives its result here.
//
//   result<std::size_t> total = co_await on(2, [id] { return orders().count(id); });
//   result<row> found = co_await on(2, [id] { return orders().find(id); });  // a task<result<row>>
//
// Contract: `f` is called on `shard` of this loop's mesh, with no arguments: it captures what it
// needs, by value. It stays in the caller's frame while it runs there, so that what it captures is
// made and destroyed here. A coroutine's task lives on the other shard, and inherits the caller's
// deadline; a stop request of the caller is passed on to it. The answer is awaited all the same: a
// success that raced the request is given as the success it is. Only a call that has not left yet
// ends at once, with errc::cancelled, or with errc::timed_out at its deadline.
// errc::closed: the shard has ended, or did before it looked. An exception that leaves `f` is
// rethrown here. On the own shard `f` runs directly. Costs no allocation once both shards' frame
// pools are warm. A result must be something that may cross: no buffer_ref, no stream.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/call_result.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/mesh.hpp>

namespace weft {

namespace detail {

/// The part of a call that does not depend on what is called: it goes there and comes back.
class remote_call : private stop_registration, private timer, private runnable {
 public:
  remote_call(const remote_call&) = delete;
  remote_call& operator=(const remote_call&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    return begin(waiting, *waiting.promise().env);
  }

 protected:
  /// Runs there; sees to it that answer() is called.
  using start_function = void (*)(remote_call& self, event_loop& there) noexcept;

  remote_call(event_loop& home, unsigned shard, start_function start) noexcept;
  ~remote_call() = default;

  /// There: what a task of the call lives in.
  [[nodiscard]] const environment& open_environment(event_loop& there) noexcept;
  /// There, once the result stands: nothing of the call may be touched afterwards.
  void answer(event_loop& there) noexcept;

  /// Here, after the end: why there is no result, if there is none.
  [[nodiscard]] std::optional<error> refusal() const noexcept { return refusal_; }

 private:
  struct part : message {
    part(arrival f, remote_call& of) noexcept : message{f}, call{of} {}
    remote_call& call;
  };
  static remote_call& call_of(message& item) noexcept { return static_cast<part&>(item).call; }

  bool begin(std::coroutine_handle<> waiting, const environment& env);
  bool refuse(error why) noexcept;
  void finish() noexcept;
  static void on_request(message& item, mesh_port* there) noexcept;
  static void on_answer(message& item, mesh_port* here) noexcept;
  static void on_stop(stop_registration& self) noexcept;
  static void on_deadline(timer& self) noexcept;
  [[nodiscard]] bool take_back(errc why) noexcept;
  static void on_stop_arrived(message& item, mesh_port* there) noexcept;
  static void on_stop_returned(message& item, mesh_port* here) noexcept;
  static void on_run(runnable& self) noexcept;
  static std::coroutine_handle<> owner_of(const timer& self) noexcept {
    return static_cast<const remote_call&>(self).waiting_;
  }
  static constexpr timer_kind deadline_kind{
      .on_expiry = &on_deadline, .name = "deadline of a call to a shard", .owner = &owner_of};

  // Here.
  event_loop& home_;
  unsigned shard_;
  std::coroutine_handle<> waiting_;
  const environment* asking_ = nullptr;
  bool stop_sent_ = false;
  bool answered_ = false;
  std::optional<error> refusal_;
  part request_;
  part stop_request_;
  // There, and on the way back.
  part answer_;
  part stop_answer_;
  start_function start_;
  deadline until_;
  bool ran_ = false;
  std::optional<stop_source> stop_there_;
  environment there_;
};

template <class F>
class remote_call_of final : public remote_call {
 public:
  using value = result_of<F>;

  remote_call_of(event_loop& home, unsigned shard, F& f) noexcept
      : remote_call{home, shard, &start}, function_{f} {}

  value await_resume() {
    if (const auto why = refusal()) return fail(*why);
    if (failure_) std::rethrow_exception(std::move(failure_));
    return std::move(*value_);
  }

 private:
  static void start(remote_call& base, event_loop& there) noexcept {
    auto& self = static_cast<remote_call_of&>(base);
    try {
      if constexpr (gives_task<F>) {
        const environment& env = self.open_environment(there);
        there.spawn_in(env, run(self, there));
        return;
      } else if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
        self.function_();
        self.value_.emplace();
      } else {
        self.value_.emplace(self.function_());
      }
    } catch (...) {
      self.failure_ = std::current_exception();
    }
    self.answer(there);
  }

  static task<void> run(remote_call_of& self, event_loop& there) {
    try {
      if constexpr (std::is_void_v<typename unwrapped_task<std::invoke_result_t<F&>>::type>) {
        co_await self.function_();
        self.value_.emplace();
      } else {
        self.value_.emplace(co_await self.function_());
      }
    } catch (...) {
      self.failure_ = std::current_exception();
    }
    self.answer(there);
  }

  F& function_;
  std::optional<value> value_;
  std::exception_ptr failure_;
};

/// On the own shard.
template <class F>
task<result_of<F>> call_here(F& f) {
  using value = typename unwrapped_task<std::invoke_result_t<F&>>::type;
  if constexpr (gives_task<F>) {
    if constexpr (std::is_void_v<value>) {
      co_await f();
      co_return {};
    } else {
      co_return co_await f();
    }
  } else if constexpr (std::is_void_v<value>) {
    f();
    co_return {};
  } else {
    co_return f();
  }
}

}  // namespace detail

/// Runs `f` on `shard`.
template <class F>
  requires std::is_invocable_v<F&>
[[nodiscard]] task<detail::result_of<F>> on(unsigned shard, F f) {
  static_assert(!std::is_reference_v<std::invoke_result_t<F&>>,
                "what on() gives crosses to another shard: return a value, not a reference");
  event_loop& home = event_loop::current();
  if (home.shard() == shard) co_return co_await detail::call_here(f);
  co_return co_await detail::remote_call_of<F>{home, shard, f};
}

}  // namespace weft
