// Who hears of events: handlers and interceptors, and the registration by which each of them ends.
//
// Problem: a handler may register and remove handlers, itself among them, while an event is told; a
// coroutine may still run when its registration ends, or its service. Contract: a listener added
// while an event is told hears of the next one; one that is removed hears of nothing more, at once.
// What a handler captured lives until the last coroutine it started has ended. A listener of a
// service listens until the service ends, and its registration may be dropped; one of no service
// listens while its registration lives. Either is removed earlier by remove() and end(), which also
// asks the handler's coroutines to stop and waits for them: whoever they refer to may go then. So
// does the end of a service, which is not destroyed before. A registration is moved, never copied,
// and may outlive the bus and the service. One shard.
//
//   event_registration heard = events.on<order_filled>([](const order_filled& order) { ... });
//   co_await heard.end();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/result.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/stop_token.hpp>
#include <weft/coro/task.hpp>
#include <weft/service/lifetime.hpp>

namespace weft {

class event_listeners;
class event_registration;

/// What runs of a handler that is a coroutine. Internal.
struct event_coroutines {
  explicit event_coroutines(const environment& parent, lifetime* owner)
      : stop{parent.stop},
        inherited{.stop = stop.token(), .until = {}, .runs_on = parent.runs_on, .owner = owner} {
    // What keeps the service is there then when that ends, where nothing may fail.
    if (owner != nullptr) owner->prepare_use();
  }

  std::uint32_t running = 0;
  stop_source stop;
  environment inherited;
  std::optional<lifetime::use> kept;  // from the service's end until none of them runs
  event ended;                        // the handler is removed, and none of them runs
};

/// What all that listens has in common: a part of what is kept for a service, or of none. Internal.
class event_listener : public registration {
 public:
  /// `coroutines`: a member of the derived class, if it starts any.
  explicit event_listener(event_coroutines* coroutines = nullptr) noexcept
      : registration{&on_service_end}, coroutines_{coroutines} {}
  event_listener(const event_listener&) = delete;
  event_listener& operator=(const event_listener&) = delete;
  virtual ~event_listener();

 private:
  [[nodiscard]] bool runs() const noexcept {
    return coroutines_ != nullptr && coroutines_->running != 0;
  }
  static void on_service_end(registration& self) noexcept;

  friend class event_bus;
  friend class event_part;
  friend class event_listeners;
  friend class event_registration;

  list_hook place_;
  list_hook over_;
  std::uint64_t number_ = 0;
  event_listeners* list_ = nullptr;
  event_registration* held_by_ = nullptr;
  event_coroutines* coroutines_;
  bool removed_ = false;
};

/// Those of one kind, in the order of their registration; each comes and goes in O(1). Internal.
class event_listeners {
 public:
  /// `count` is of them and of others that it counts as well.
  explicit event_listeners(std::uint32_t& count) noexcept : count_{count} {}
  event_listeners(const event_listeners&) = delete;
  event_listeners& operator=(const event_listeners&) = delete;
  ~event_listeners();

  /// `owner`: the service it ends with; nullptr: it ends with its registration.
  [[nodiscard]] event_registration add(std::unique_ptr<event_listener> added,
                                       lifetime* owner) noexcept;
  void remove(event_listener& gone) noexcept;
  /// As remove(), and asks its coroutines to stop.
  void end(event_listener& gone) noexcept;
  /// One coroutine of `listener` less.
  void coroutine_ended(event_listener& listener) noexcept;

  /// Calls `f` with each that was there when the call began and still is; `f` may add and remove.
  template <class Listener, class F>
  void for_each(F f) {
    const std::uint64_t end = added_;
    ++walks_;
    for (event_listener& each : listeners_) {
      if (each.number_ >= end) break;
      if (!each.removed_) f(static_cast<Listener&>(each));
    }
    if (--walks_ == 0 && !over_.empty()) [[unlikely]]
      sweep();
  }

 private:
  void retire(event_listener& gone) noexcept;
  void sweep() noexcept;

  intrusive_list<event_listener, &event_listener::place_> listeners_;
  intrusive_list<event_listener, &event_listener::over_> over_;  // removed during a walk
  std::uint32_t& count_;
  std::uint64_t added_ = 0;
  unsigned walks_ = 0;
};

/// By which a handler or an interceptor ends: at the latest with this, if it is of no service.
class event_registration {
 public:
  event_registration() noexcept = default;
  event_registration(event_registration&& other) noexcept { take(other); }
  event_registration& operator=(event_registration&& other) noexcept {
    if (this != &other) {
      let_go();
      take(other);
    }
    return *this;
  }
  ~event_registration() { let_go(); }

  /// Whether it listens.
  [[nodiscard]] explicit operator bool() const noexcept { return listener_ != nullptr; }

  /// Hears of nothing more. Its coroutines run on.
  void remove() noexcept {
    if (listener_ != nullptr) listener_->list_->remove(*listener_);
  }

  /// As remove(), and asks its coroutines to stop.
  void request_end() noexcept {
    if (listener_ != nullptr) listener_->list_->end(*listener_);
  }
  /// As request_end(), and waits until its coroutines have ended. A failure: the
  /// deadline passed, or the caller was asked to stop, while some still run. Must not be called
  /// from one of them.
  [[nodiscard]] task<result<void>> end();

 private:
  friend class event_listener;
  friend class event_listeners;
  explicit event_registration(event_listener& of) noexcept : listener_{&of} { of.held_by_ = this; }
  void take(event_registration& other) noexcept {
    listener_ = std::exchange(other.listener_, nullptr);
    if (listener_ != nullptr) listener_->held_by_ = this;
  }
  void let_go() noexcept {
    if (listener_ == nullptr) return;
    if (listener_->owner() == nullptr)
      remove();
    else
      std::exchange(listener_, nullptr)->held_by_ = nullptr;
  }

  event_listener* listener_ = nullptr;
};

}  // namespace weft
