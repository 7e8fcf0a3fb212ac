#include <weft/coro/stop_token.hpp>

namespace weft {

bool stop_source::request_stop() noexcept {
  if (requested_) return false;
  requested_ = true;
  while (!registrations_.empty()) registrations_.pop_front()->notify();
  return true;
}

void stop_source::follow(stop_token parent) noexcept {
  if (parent.stop_requested()) {
    requested_ = true;
    return;
  }
  upstream_.owner = this;
  parent.subscribe(upstream_);
}

void stop_source::on_upstream(stop_registration& registration) noexcept {
  static_cast<upstream_registration&>(registration).owner->request_stop();
}

}  // namespace weft
