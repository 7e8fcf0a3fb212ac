#include <weft/loop/wait.hpp>

#include <cerrno>

#include <weft/loop/backend.hpp>

namespace weft {

void operation_wait::refuse(operation& op, const environment& env) noexcept {
  timed_out_ = !env.stop.stop_requested();
  op.result = -ECANCELED;
}

void operation_wait::arm_deadline(const environment& env) noexcept {
  loop_.timers().arm(*this, env.until.when());
}

void operation_wait::resume() noexcept {
  stop_registration::disarm();
  loop_.timers().disarm(*this);
  detail::resume(waiting_);
}

error operation_wait::failure(const operation& op) const noexcept {
  if (op.result == -ECANCELED && timed_out_) return errc::timed_out;
  return error::from_errno(-op.result);
}

void operation_wait::stop(operation& op) noexcept {
  loop_.timers().disarm(*this);
  loop_.io().cancel(op);
}

void operation_wait::time_out(operation& op) noexcept {
  timed_out_ = true;
  stop_registration::disarm();
  loop_.io().cancel(op);
}

}  // namespace weft
