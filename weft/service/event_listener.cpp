#include <weft/service/event_listener.hpp>

namespace weft {

event_listener::~event_listener() {
  if (held_by_ != nullptr) held_by_->listener_ = nullptr;
}

event_listeners::~event_listeners() {
  while (event_listener* const each = listeners_.pop_front()) delete each;
}

event_registration event_listeners::add(std::unique_ptr<event_listener> added) noexcept {
  event_listener& listener = *added.release();
  listener.list_ = this;
  listener.number_ = added_++;
  listeners_.push_back(listener);
  ++count_;
  return event_registration{listener};
}

void event_listeners::remove(event_listener& gone) noexcept {
  gone.removed_ = true;
  if (walks_ == 0)
    retire(gone);
  else
    over_.push_back(gone);
}

void event_listeners::coroutine_ended(event_listener& listener) noexcept {
  if (--listener.coroutines_->running != 0 || !listener.removed_) return;
  listener.coroutines_->ended.set();
  if (!listener.place_.is_linked()) delete &listener;
}

/// Its last coroutine frees one that still has some.
void event_listeners::retire(event_listener& gone) noexcept {
  gone.place_.unlink();
  --count_;
  if (!gone.runs()) delete &gone;
}

void event_listeners::sweep() noexcept {
  while (event_listener* const gone = over_.pop_front()) retire(*gone);
}

void event_registration::remove() noexcept {
  if (listener_ == nullptr) return;
  event_listener& gone = *std::exchange(listener_, nullptr);
  gone.held_by_ = nullptr;
  gone.list_->remove(gone);
}

void event_registration::request_end() noexcept {
  if (listener_ == nullptr) return;
  event_listener& gone = *listener_;
  const bool runs = gone.runs();
  remove();
  if (runs) gone.coroutines_->stop.request_stop();
}

task<result<void>> event_registration::end() {
  if (listener_ == nullptr) co_return result<void>{};
  event_listener& gone = *listener_;
  const bool runs = gone.runs();
  request_end();
  if (!runs) co_return result<void>{};
  co_return co_await gone.coroutines_->ended.wait();
}

}  // namespace weft
