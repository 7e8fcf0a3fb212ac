// Turns what speaks over a WebSocket into the handler of a route.
//
// Contract: a callable that takes a `http::websocket&` and, in any order, at most one
// http::path<T> and one http::query<T> (parameters.hpp), and returns task<void>. What a request has
// besides is gone once the connection is upgraded: a callable that wants to see it takes a `const
// http::request&` instead of the websocket, looks at it at once, and returns such a callable for
// the websocket, or a result<> of one, whose error is replied. Both live until the WebSocket's
// handler has returned. std::invalid_argument: options that make no sense (websocket_options.hpp).
//
//   make_websocket_route([](http::websocket& socket, http::path<room> at) -> task<void> { ... },
//                        {});
#pragma once

#include <concepts>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/handler.hpp>
#include <weft/http/route_handler.hpp>
#include <weft/http/websocket/server_upgrade.hpp>
#include <weft/http/websocket/websocket.hpp>
#include <weft/http/websocket/websocket_options.hpp>

namespace weft::http::ws {

template <class A, class Inputs>
decltype(auto) websocket_argument(exchange& e, websocket* socket, Inputs& in) {
  if constexpr (std::same_as<A, websocket&>) {
    return *socket;
  } else if constexpr (detail::is_request<A>) {
    static_assert(std::same_as<A, const request&>,
                  "handlers see the request as `const http::request&`");
    return e.request();
  } else if constexpr (detail::path_parameter<std::remove_cvref_t<A>>::value) {
    return std::move(in.path);
  } else {
    static_assert(detail::query_parameter<std::remove_cvref_t<A>>::value,
                  "a WebSocket's handler takes a `http::websocket&`, a http::path<T> and a "
                  "http::query<T>");
    return std::move(in.query);
  }
}

/// Keeps what was made for one WebSocket as long as that.
template <class F>
task<void> run_made(F speak, websocket& socket) {
  co_await speak(socket);
}

template <class F, class... A>
void serve(F& f, server_upgrade& asked, exchange& e, detail::parameters<A...>) {
  constexpr bool takes_socket = (std::same_as<A, websocket&> || ...);
  using outcome = std::invoke_result_t<F&, A...>;
  detail::inputs<detail::path_of<A...>, detail::query_of<A...>, detail::absent> in;
  if (!detail::read_inputs(e, in)) return;
  if constexpr (takes_socket) {
    static_assert(std::same_as<outcome, task<void>>,
                  "what speaks over a WebSocket returns weft::task<void>");
    websocket& socket = asked.socket();
    asked.accept(f(websocket_argument<A>(e, &socket, in)...));
  } else {
    auto made = f(websocket_argument<A>(e, nullptr, in)...);
    if constexpr (detail::is_result<outcome>) {
      if (!made) return e.reply(made.error());
      asked.accept(run_made(std::move(*made), asked.socket()));
    } else {
      asked.accept(run_made(std::move(made), asked.socket()));
    }
  }
}

template <class... A>
consteval handler_shape websocket_shape(detail::parameters<A...>) {
  return {.path = detail::parameters_of<detail::path_of<A...>>,
          .query = detail::parameters_of<detail::query_of<A...>>};
}
template <class F>
inline constexpr handler_shape websocket_shape_of =
    websocket_shape(typename detail::signature<F>::arguments{});

template <class F>
[[nodiscard]] route_handler make_websocket_route(F f, websocket_options options) {
  if (const std::string fault = fault_of(options); !fault.empty())
    throw std::invalid_argument{fault};
  route_handler made{handler{[f = std::move(f), own = std::make_unique<const websocket_options>(
                                                    std::move(options))](exchange& e) mutable {
                       server_upgrade asked{e, *own};
                       if (asked.agree())
                         serve(f, asked, e, typename detail::signature<F>::arguments{});
                     }},
                     websocket_shape_of<F>};
  made.describe({.summary = "A WebSocket", .hidden = true});
  return made;
}

}  // namespace weft::http::ws
