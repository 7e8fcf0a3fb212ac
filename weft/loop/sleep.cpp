#include <weft/loop/sleep.hpp>

#include <algorithm>

namespace weft {

bool sleep_until::begin(std::coroutine_handle<> waiting, const environment& env) noexcept {
  if (env.stop.stop_requested()) {
    outcome_ = fail(errc::cancelled);
    return false;
  }
  waiting_ = waiting;
  deadline_first_ = env.until.when() < when_;
  env.stop.subscribe(*this);
  const time_point end = std::min(when_, env.until.when());
  if (end != time_point::max()) loop_.timers().arm(*this, end);
  return true;
}

void sleep_until::wake(result<void> outcome) noexcept {
  stop_registration::disarm();
  loop_.timers().disarm(*this);
  outcome_ = outcome;
  loop_.schedule(*this);
}

void sleep_until::on_timer(timer& self) noexcept {
  auto& sleeper = static_cast<sleep_until&>(self);
  sleeper.wake(sleeper.deadline_first_ ? result<void>{fail(errc::timed_out)} : result<void>{});
}

void sleep_until::on_stop(stop_registration& self) noexcept {
  static_cast<sleep_until&>(self).wake(fail(errc::cancelled));
}

void sleep_until::on_run(runnable& self) noexcept {
  detail::resume(static_cast<sleep_until&>(self).waiting_);
}

}  // namespace weft
