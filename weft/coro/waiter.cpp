#include <weft/coro/waiter.hpp>

#include <weft/coro/scheduler.hpp>
#include <weft/coro/task.hpp>

namespace weft {

bool waiter::is_overdue(const environment& env) noexcept {
  if (!env.until.passed(env.runs_on->now())) return false;
  outcome_ = fail(errc::timed_out);
  return true;
}

void waiter::stand_in_line(wait_line& line, std::coroutine_handle<> waiting,
                           const environment& env) noexcept {
  waiting_ = waiting.address();
  runs_on_ = env.runs_on;
  line.waiters_.push_back(*this);
  env.stop.subscribe(*this);
  if (!env.until.is_never()) runs_on_->arm(*this, env.until.when());
}

void waiter::go_on() noexcept {
  stop_registration::disarm();
  if (timer::armed()) [[unlikely]]
    disarm_deadline();
  runs_on_->schedule(*this, priority::normal);
}

void waiter::disarm_deadline() noexcept { runs_on_->disarm(*this); }

void waiter::on_stop(stop_registration& self) noexcept {
  static_cast<waiter&>(self).wake(fail(errc::cancelled));
}

void waiter::on_deadline(timer& self) noexcept {
  static_cast<waiter&>(self).wake(fail(errc::timed_out));
}

void waiter::on_run(runnable& self) noexcept {
  detail::resume(std::coroutine_handle<>::from_address(static_cast<waiter&>(self).waiting_));
}

}  // namespace weft
