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

class operation_wait : protected stop_registration, protected timer {
 protected:
  operation_wait(event_loop& loop, stop_registration::function on_stop,
                 const timer_kind& deadline) noexcept
      : stop_registration{on_stop}, timer{deadline}, loop_{loop} {}
  ~operation_wait() = default;

  /// True: suspend. False: the operation has answered, or was never started because the environment
  /// forbids it.
  [[nodiscard, gnu::always_inline]] bool begin(operation& op, std::coroutine_handle<> waiting,
                                               const environment& env) noexcept {
    if (env.stop.stop_requested() || env.until.passed(loop_.now())) [[unlikely]] {
      refuse(op, env);
      return false;
    }
    waiting_ = waiting;
    if (loop_.start(op)) return false;
    env.stop.subscribe(*this);
    if (!env.until.is_never()) arm_deadline(env);
    return true;
  }

  /// After the answer: what a negative result means.
  [[nodiscard]] error failure(const operation& op) const noexcept;

  void resume() noexcept;
  void stop(operation& op) noexcept;
  void time_out(operation& op) noexcept;
  static std::coroutine_handle<> owner_of(const timer& self) noexcept {
    return static_cast<const operation_wait&>(self).waiting_;
  }

 private:
  void refuse(operation& op, const environment& env) noexcept;
  void arm_deadline(const environment& env) noexcept;

  bool timed_out_ = false;  // first: it fills what the timer leaves
  event_loop& loop_;
  std::coroutine_handle<> waiting_;
};

/// An operation with its wait, each of which finds the other without a pointer: every idle
/// connection holds one.
template <class Operation>
struct awaited_operation final : Operation, operation_wait {
  template <class... Arguments>
  explicit awaited_operation(event_loop& loop, Arguments... arguments) noexcept
      : Operation{arguments..., &on_answered}, operation_wait{loop, &on_stop, deadline_kind} {}

  using operation_wait::begin;
  [[nodiscard]] error failure() const noexcept { return operation_wait::failure(*this); }

 private:
  static void on_answered(operation& op) noexcept { static_cast<awaited_operation&>(op).resume(); }
  static void on_stop(stop_registration& self) noexcept {
    auto& awaited = static_cast<awaited_operation&>(self);
    awaited.stop(awaited);
  }
  static void on_deadline(timer& self) noexcept {
    auto& awaited = static_cast<awaited_operation&>(self);
    awaited.time_out(awaited);
  }
  static constexpr timer_kind deadline_kind{.on_expiry = &on_deadline,
                                            .name = "deadline of an operation",
                                            .owner = &operation_wait::owner_of};
};

template <class Operation>
class operation_awaiter {
 public:
  operation_awaiter(const operation_awaiter&) = delete;
  operation_awaiter& operator=(const operation_awaiter&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    return operation_.begin(operation_, waiting, *waiting.promise().env);
  }

 protected:
  template <class... Arguments>
  explicit operation_awaiter(event_loop& loop, Arguments... arguments) noexcept
      : operation_{loop, arguments...} {}
  ~operation_awaiter() = default;

  awaited_operation<Operation> operation_;
};

}  // namespace weft
