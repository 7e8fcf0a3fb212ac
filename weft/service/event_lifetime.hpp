// Handlers of a service, which end with it.
//
// Contract: a handler registered for a lifetime hears of events until that ends: then it is
// removed, its coroutines are asked to stop, and the service is not destroyed before they have
// ended. There is no registration to keep. The bus may end first. One shard.
//
//   explicit journal(event_bus& events, lifetime& own) {
//     listen<order_filled>(events, own, [this](const order_filled& o) { write(o); });
//   }
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <weft/service/event_bus.hpp>
#include <weft/service/lifetime.hpp>

namespace weft {

namespace detail {

/// Frees itself when the service ends.
class service_listener final : public registration {
 public:
  explicit service_listener(event_registration held) noexcept
      : registration{&on_end}, held_{std::move(held)} {}

 private:
  static void on_end(registration& part) noexcept {
    const std::unique_ptr<service_listener> self{static_cast<service_listener*>(&part)};
    self->held_.request_end();
  }
  event_registration held_;
};

/// Keeps the service while a coroutine of it runs, which works for the service.
template <class E, class F, class Returned>
Returned run_for(lifetime& owner, F& f, const E& event) {
  const lifetime::use in_use{owner};
  environment own = co_await this_task::environment();
  own.owner = &owner;
  co_return co_await f(event).in(own);
}

}  // namespace detail

/// As events.on<E>(f), for as long as `owner` lasts.
template <class E, class F>
void listen(event_bus& events, lifetime& owner, F f) {
  using returned = std::invoke_result_t<F&, const E&>;
  event_registration held;
  if constexpr (detail::is_handler_task<returned>)
    held = events.on<E>([&owner, f = std::move(f)](const E& event) mutable {
      return detail::run_for<E, F, returned>(owner, f, event);
    });
  else
    held = events.on<E>(std::move(f));
  owner.attach(*std::make_unique<detail::service_listener>(std::move(held)).release());
}

}  // namespace weft
