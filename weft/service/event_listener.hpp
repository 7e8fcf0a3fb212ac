// Who hears of events: handlers and interceptors, and the registration by which each of them ends.
//
// Problem: a handler may register and remove handlers, itself among them, while an event is told; a
// coroutine may still run when its registration ends. Contract: a listener added while an event is
// told hears of the next one; one that is removed hears of nothing more, at once. What a handler
// captured lives until the last coroutine it started has ended. A registration is moved, never
// copied, removes its listener when it is destroyed, and may outlive the bus. end() also asks the
// handler's coroutines to stop and waits for them: whoever they refer to may go then. One shard.
//
//   event_registration heard = events.on<order_filled>([](const order_filled& order) { ... });
//   co_await heard.end();
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <weft/base/intrusive_list.hpp>
#include <weft/base/result.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/stop_token.hpp>
#include <weft/coro/task.hpp>

namespace weft {

class event_listeners;
class event_registration;

/// What runs of a handler that is a coroutine. Internal.
struct event_coroutines {
  explicit event_coroutines(const environment& parent) noexcept
      : stop{parent.stop},
        inherited{.stop = stop.token(), .until = {}, .runs_on = parent.runs_on} {}

  std::uint32_t running = 0;
  stop_source stop;
  environment inherited;
  event ended;  // the handler is removed, and none of them runs
};

/// What all that listens has in common. Internal.
class event_listener {
 public:
  /// `coroutines`: a member of the derived class, if it starts any.
  explicit event_listener(event_coroutines* coroutines = nullptr) noexcept
      : coroutines_{coroutines} {}
  event_listener(const event_listener&) = delete;
  event_listener& operator=(const event_listener&) = delete;
  virtual ~event_listener();

 private:
  [[nodiscard]] bool runs() const noexcept {
    return coroutines_ != nullptr && coroutines_->running != 0;
  }

  friend class event_bus;
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

  [[nodiscard]] event_registration add(std::unique_ptr<event_listener> added) noexcept;
  void remove(event_listener& gone) noexcept;
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

/// Keeps a handler or an interceptor listening while it lives.
class [[nodiscard("a handler listens only while its registration lives")]] event_registration {
 public:
  event_registration() noexcept = default;
  event_registration(event_registration&& other) noexcept { take(other); }
  event_registration& operator=(event_registration&& other) noexcept {
    if (this != &other) {
      remove();
      take(other);
    }
    return *this;
  }
  ~event_registration() { remove(); }

  /// Whether it listens.
  [[nodiscard]] explicit operator bool() const noexcept { return listener_ != nullptr; }

  /// Hears of nothing more. Its coroutines run on.
  void remove() noexcept;

  /// As remove(), and asks its coroutines to stop.
  void request_end() noexcept;
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

  event_listener* listener_ = nullptr;
};

}  // namespace weft
