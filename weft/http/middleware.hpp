// Who looks at a request before its handler does.
//
// Contract: a middleware is a callable that takes the exchange and what comes next, and calls that,
// or replies itself. One that has something to do afterwards, without waiting itself, calls
// `e.run_then(next, f)`; one that waits returns task<void> and awaits `e.run(next)`. `next` lives
// until the exchange has ended. Wrapped around routes by route_group::wrap(), around all that a
// server answers by server::wrap_all().
//
//   http.wrap_all([](http::exchange& e, http::handler& next) {
//     (void)e.add_field("X-Frame-Options", "DENY");
//     next(e);
//   });
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <weft/base/unique_function.hpp>
#include <weft/http/exchange.hpp>
#include <weft/http/handler.hpp>

namespace weft::http {

class cors;

using middleware = unique_function<void(exchange&, handler& next)>;

/// The policy that a middleware is, for replies that no middleware sees; nullptr: it is none.
template <class F>
[[nodiscard]] std::shared_ptr<const cors> policy_of(const F& around) {
  if constexpr (std::is_same_v<F, cors>)
    return std::make_shared<const F>(around);
  else
    return nullptr;
}

template <class F>
[[nodiscard]] middleware make_middleware(F f) {
  static_assert(std::is_invocable_v<F&, exchange&, handler&>,
                "a middleware takes (http::exchange&, http::handler& next)");
  if constexpr (detail::is_task<std::invoke_result_t<F&, exchange&, handler&>>)
    return [f = std::move(f)](exchange& e, handler& next) mutable { e.work.emplace(f(e, next)); };
  else
    return f;
}

}  // namespace weft::http
