#include <weft/service/event_listener.hpp>

namespace weft {

event_listener::~event_listener() {
  if (held_by_ != nullptr) held_by_->listener_ = nullptr;
}

event_listeners::~event_listeners() {
  while (event_listener* const each = listeners_.pop_front()) delete each;
}

/// Its coroutines, which are asked to stop, keep the service until they have ended.
void event_listener::on_service_end(registration& self) noexcept {
  auto& gone = static_cast<event_listener&>(self);
  if (gone.runs()) gone.coroutines_->kept.emplace(*gone.coroutines_->inherited.owner);
  gone.list_->end(gone);
}

event_registration event_listeners::add(std::unique_ptr<event_listener> added,
                                        lifetime* owner) noexcept {
  event_listener& listener = *added.release();
  listener.list_ = this;
  listener.number_ = added_++;
  listeners_.push_back(listener);
  ++count_;
  if (owner != nullptr) owner->attach(listener);
  return event_registration{listener};
}

void event_listeners::remove(event_listener& gone) noexcept {
  if (gone.held_by_ != nullptr) std::exchange(gone.held_by_, nullptr)->listener_ = nullptr;
  gone.detach();
  gone.removed_ = true;
  if (walks_ == 0)
    retire(gone);
  else
    over_.push_back(gone);
}

void event_listeners::end(event_listener& gone) noexcept {
  event_coroutines* const run_on = gone.runs() ? gone.coroutines_ : nullptr;
  remove(gone);
  if (run_on != nullptr) run_on->stop.request_stop();
}

void event_listeners::coroutine_ended(event_listener& listener) noexcept {
  event_coroutines& of = *listener.coroutines_;
  if (--of.running != 0 || !listener.removed_) return;
  of.ended.set();
  const std::optional<lifetime::use> kept = std::exchange(of.kept, std::nullopt);
  if (!listener.place_.is_linked()) delete &listener;  // before the service may go
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

task<result<void>> event_registration::end() {
  if (listener_ == nullptr) co_return result<void>{};
  event_coroutines* const run_on = listener_->runs() ? listener_->coroutines_ : nullptr;
  request_end();
  if (run_on == nullptr) co_return result<void>{};
  co_return co_await run_on->ended.wait();
}

}  // namespace weft
