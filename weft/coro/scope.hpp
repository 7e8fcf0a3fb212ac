// A nursery: tasks are spawned into a scope, and the scope ends after them. No task is without an
// owner.
//
// Contract: spawn() queues the task's start; the task inherits the scope's environment, whose
// stop_token the scope's own request_stop() and its parent's stop both set. `co_await scope.join()`
// waits until no task is left (a task may spawn further ones meanwhile) and rethrows what
// failed, as the scope's policy says: an exception that left a task ends here. fail_fast stops the
// siblings and gives the first failure; collect lets them run on and gives all, as task_failures,
// even if it is one. The destructor insists that all have ended. One shard; nothing here is thread
// safe.
//
//   scope workers{co_await this_task::environment()};
//   workers.spawn(serve(std::move(stream)));
//   co_await workers.join();
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <weft/base/rare_call.hpp>
#include <weft/coro/scheduler.hpp>
#include <weft/coro/task.hpp>

namespace weft {

/// What a scope does when an exception leaves one of its tasks.
enum class failure_policy : std::uint8_t {
  fail_fast,  // asks the others to stop: what they do is of use only together
  collect,    // lets the others run on: each is of use by itself
};

class scope final : public scope_registration {
 public:
  /// Tasks of this scope stop when `parent.stop` does, keep its deadline and run on its scheduler.
  explicit scope(const environment& parent,
                 failure_policy policy = failure_policy::fail_fast) noexcept;
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope();

  /// Takes the task over; it first runs from the ready queue. Allocates nothing.
  void spawn(task<void> work, priority band = priority::normal) noexcept {
    spawn_in(environment_, std::move(work), band);
  }
  /// Calls `work`, which returns a task<void>, and keeps it until that task has ended. A coroutine
  /// lambda with captures is spawned like this: the captures live in the lambda, so that
  /// `spawn([=]() -> task<void> {...}())` would read them after they are gone.
  template <detail::makes_task F>
  void spawn(F work, priority band = priority::normal) {
    spawn(detail::call_kept(std::move(work)), band);
  }
  /// As spawn(), in an environment of the task's own, made from this scope's and alive until the
  /// task has ended.
  void spawn_in(const environment& env, task<void> work, priority band = priority::normal) noexcept;
  /// A temporary environment ends before the task does.
  void spawn_in(const environment&&, task<void>, priority = priority::normal) = delete;
  /// As spawn_in(), but runs the task up to its first wait now, which spares it the ready queue.
  /// For who is run by the loop itself: never from within a coroutine.
  void start_in(const environment& env, task<void> work) noexcept;
  void start_in(const environment&&, task<void>) = delete;

  /// What tasks spawned here inherit.
  [[nodiscard]] const environment& inherited() const noexcept { return environment_; }

  /// Asks all tasks, and those spawned later, to stop. They end in their own time: join() to see
  /// it.
  void request_stop() noexcept { stop_.request_stop(); }
  [[nodiscard]] stop_token token() noexcept { return stop_.token(); }

  [[nodiscard]] std::size_t active() const noexcept { return active_; }
  /// Calls `see` with the promise of each task that has not ended, the oldest first.
  template <class F>
  void for_each_task(F see) {
    for (detail::promise<void>& each : tasks_) see(each);
  }

  /// Waits until active() is zero, then rethrows what failed, if anything did. One waiter at a
  /// time. Joining is not cut short by a stop request: the tasks are.
  [[nodiscard]] auto join() noexcept {
    struct awaiter : runnable {
      explicit awaiter(scope& s) noexcept : runnable{&resume_joiner}, owner{s} {}
      static void resume_joiner(runnable& self) noexcept {
        auto& waiting = static_cast<awaiter&>(self);
        if (waiting.owner.active_ == 0)
          detail::resume(waiting.joiner);
        else  // more was spawned while the joiner stood in the ready queue
          waiting.owner.joiner_ = &waiting;
      }
      bool await_ready() const noexcept { return owner.active_ == 0; }
      void await_suspend(std::coroutine_handle<> waiting) noexcept {
        WEFT_DEBUG_ASSERT(owner.joiner_ == nullptr, "a scope is joined by one waiter at a time");
        joiner = waiting;
        owner.joiner_ = this;
      }
      void await_resume() const { owner.rethrow_failure(); }
      scope& owner;
      std::coroutine_handle<> joiner;
    };
    return awaiter{*this};
  }

  /// Rethrows the first exception that left a task, or throws task_failures with all, once; what
  /// join() does at its end, for owners that cannot wait.
  void rethrow_failure();

 private:
  [[nodiscard]] detail::promise<void>& adopt(const environment& env, task<void> work) noexcept;
  friend void detail::leave_scope(detail::promise<void>& ended) noexcept;
  void task_ended(detail::promise<void>& ended) noexcept;
  WEFT_RARE_CALL void note_failure(detail::promise<void>& ended) noexcept;
  void collect(std::exception_ptr failure) noexcept;
  void count_down() noexcept;

  stop_source stop_;
  environment environment_;
  intrusive_list<detail::promise<void>, &detail::promise<void>::spawned> tasks_;
  std::size_t active_ = 0;
  runnable* joiner_ = nullptr;
  std::exception_ptr failure_;                     // the first
  std::vector<std::exception_ptr> more_failures_;  // with failure_policy::collect
  failure_policy policy_;
};

}  // namespace weft
