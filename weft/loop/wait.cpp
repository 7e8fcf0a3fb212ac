#include <weft/loop/wait.hpp>

#include <cerrno>

#include <weft/loop/backend.hpp>

namespace weft {

bool operation_wait::begin(operation& op, std::coroutine_handle<> waiting,
                           const environment& env) noexcept {
  if (env.stop.stop_requested() || env.until.passed(loop_.now())) [[unlikely]] {
    timed_out_ = !env.stop.stop_requested();
    op.result = -ECANCELED;
    return false;
  }
  operation_ = &op;
  waiting_ = waiting;
  if (loop_.start(op)) return false;
  env.stop.subscribe(*this);
  if (!env.until.is_never()) loop_.timers().arm(*this, env.until.when());
  return true;
}

void operation_wait::resume() noexcept {
  stop_registration::disarm();
  loop_.timers().disarm(*this);
  waiting_.resume();
}

error operation_wait::failure(const operation& op) const noexcept {
  if (op.result == -ECANCELED && timed_out_) return errc::timed_out;
  return error::from_errno(-op.result);
}

void operation_wait::on_stop(stop_registration& self) noexcept {
  auto& wait = static_cast<operation_wait&>(self);
  wait.loop_.timers().disarm(wait);
  wait.loop_.io().cancel(*wait.operation_);
}

void operation_wait::on_deadline(timer& self) noexcept {
  auto& wait = static_cast<operation_wait&>(self);
  wait.timed_out_ = true;
  wait.stop_registration::disarm();
  wait.loop_.io().cancel(*wait.operation_);
}

}  // namespace weft
