// How a coroutine waits for an operation: obeys the stop request and the deadline of its
// environment, and leaves only when the operation itself has answered.
//
// Contract: embedded in an awaiter, next to the operation, in the frame of the waiting coroutine.
// begin() says whether to suspend. A stop request or a passed deadline before the start answers
// without starting; afterwards they only ask the backend to cancel, and a success that won the race
// is reported as the success it is.
//
// operation_awaiter adds what all such awaiters share: derive, and say what the answer means in
// await_resume().
//
//   struct accept_wait : operation_awaiter<accept_operation> {
//     accept_wait(event_loop& loop, descriptor* listener) : operation_awaiter{loop, listener} {}
//     result<descriptor*> await_resume() { ... operation_.accepted ... }
//   };
#pragma once

#include <coroutine>

#include <weft/coro/environment.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/operation.hpp>

namespace weft {

class operation_wait : private stop_registration, private timer {
 public:
  explicit operation_wait(event_loop& loop) noexcept
      : stop_registration{&on_stop}, timer{&on_deadline}, loop_{loop} {}

  /// True: suspend. False: the operation has answered, or was never started because the environment
  /// forbids it.
  [[nodiscard, gnu::always_inline]] bool begin(operation& op, std::coroutine_handle<> waiting,
                                               const environment& env) noexcept {
    if (env.stop.stop_requested() || env.until.passed(loop_.now())) [[unlikely]] {
      refuse(op, env);
      return false;
    }
    operation_ = &op;
    waiting_ = waiting;
    if (loop_.start(op)) return false;
    env.stop.subscribe(*this);
    if (!env.until.is_never()) arm_deadline(env);
    return true;
  }

  /// After the answer: what a negative result means.
  [[nodiscard]] error failure(const operation& op) const noexcept;

  /// To be called by the operation's on_answer.
  void resume() noexcept;

 private:
  void refuse(operation& op, const environment& env) noexcept;
  void arm_deadline(const environment& env) noexcept;
  static void on_stop(stop_registration& self) noexcept;
  static void on_deadline(timer& self) noexcept;

  event_loop& loop_;
  operation* operation_ = nullptr;
  std::coroutine_handle<> waiting_;
  bool timed_out_ = false;
};

template <class Operation>
class operation_awaiter {
 public:
  operation_awaiter(const operation_awaiter&) = delete;
  operation_awaiter& operator=(const operation_awaiter&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    return wait_.begin(operation_, waiting, *waiting.promise().env);
  }

 protected:
  template <class... Arguments>
  explicit operation_awaiter(event_loop& loop, Arguments... arguments) noexcept
      : operation_{*this, arguments...}, wait_{loop} {}
  ~operation_awaiter() = default;

  struct owned_operation : Operation {
    template <class... Arguments>
    explicit owned_operation(operation_awaiter& awaiter, Arguments... arguments) noexcept
        : Operation{arguments..., &answered}, owner{awaiter} {}
    operation_awaiter& owner;
  };
  static void answered(operation& op) noexcept {
    static_cast<owned_operation&>(op).owner.wait_.resume();
  }

  owned_operation operation_;
  operation_wait wait_;
};

}  // namespace weft
