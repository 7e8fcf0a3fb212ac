// Routes that have something in common: how their paths begin, what bounds them, who looks first.
//
// Problem: what holds for a part of a server should be said once, and cost nothing where it is not
// said. Contract: a value, made from a server or from another group, which it does not change; it
// adds routes to the server as that itself does. The server outlives it. One shard.
//   group()   paths below a prefix
//   within()  bounds other than the server's
//   taking_bodies_if()  who may send a body, by the head of the request
//   wrap()    a middleware (middleware.hpp) around the handlers, inside those that were wrapped
//             before. It is shared by the routes of the group, and ends with the last.
//
//   auto api = http.group("/api").wrap([](http::exchange& e, http::handler& next) {
//     if (e.request().header("authorization")) return next(e);
//     e.reply_problem(http::status::unauthorized, "say who you are");
//   });
//   api.get("/orders/{id}", find_order);
//   api.within({.body_bytes = 1 << 30}).put("/files/{name}", store_file);
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/http/exchange.hpp>
#include <weft/http/limits.hpp>
#include <weft/http/method.hpp>
#include <weft/http/middleware.hpp>
#include <weft/http/route_handler.hpp>
#include <weft/http/websocket/websocket_route.hpp>
#include <weft/service/lifetime.hpp>

namespace weft::http {

class server;

class route_group {
 public:
  /// Below this one's prefix: "/" and segments, as in a route, without a slash at the end.
  [[nodiscard]] route_group group(std::string_view prefix) const;
  /// What is set here goes before what was set before.
  [[nodiscard]] route_group within(const route_limits& bounds) const;
  /// `f(const header_list&)` says whether the body of a request is wanted. If not, it is not read:
  /// the handler is called with the head alone (exchange::lacks_body()), middlewares and all, and
  /// refuses. Asked once or twice a request, and not where the body came along with the head.
  template <class F>
  [[nodiscard]] route_group taking_bodies_if(F f) const {
    return wishing(std::make_shared<body_wish>(std::move(f)));
  }
  template <class F>
  [[nodiscard]] route_group wrap(F f) const {
    std::shared_ptr<const cors> policy = policy_of(f);
    return wrapped(make_middleware(std::move(f)), std::move(policy));
  }

  template <class F>
  route_group& get(std::string_view pattern, F f, lifetime* owner = lifetime::current()) {
    return add(method::get, pattern, std::move(f), owner);
  }
  template <class F>
  route_group& post(std::string_view pattern, F f, lifetime* owner = lifetime::current()) {
    return add(method::post, pattern, std::move(f), owner);
  }
  template <class F>
  route_group& put(std::string_view pattern, F f, lifetime* owner = lifetime::current()) {
    return add(method::put, pattern, std::move(f), owner);
  }
  template <class F>
  route_group& patch(std::string_view pattern, F f, lifetime* owner = lifetime::current()) {
    return add(method::patch, pattern, std::move(f), owner);
  }
  template <class F>
  route_group& del(std::string_view pattern, F f, lifetime* owner = lifetime::current()) {
    return add(method::delete_, pattern, std::move(f), owner);
  }
  /// As server::websocket().
  template <class F>
  route_group& websocket(std::string_view pattern, F f, websocket_options options = {},
                         lifetime* owner = lifetime::current()) {
    return route(method::get, pattern, ws::make_websocket_route(std::move(f), std::move(options)),
                 owner);
  }
  /// Throws std::invalid_argument as server::route() does.
  route_group& route(method which, std::string_view pattern, route_handler answer,
                     lifetime* owner = lifetime::current());

 private:
  friend class server;
  explicit route_group(server& of) noexcept : server_{&of} {}

  template <class F>
  route_group& add(method which, std::string_view pattern, F f, lifetime* owner) {
    return route(which, pattern, make_route_handler(std::move(f)), owner);
  }
  [[nodiscard]] route_group wrapped(middleware added, std::shared_ptr<const cors> policy) const;
  [[nodiscard]] route_group wishing(std::shared_ptr<body_wish> wish) const;

  server* server_;
  std::string prefix_;
  route_limits bounds_;
  std::vector<std::shared_ptr<middleware>> around_;    // the outermost first
  std::vector<std::shared_ptr<const cors>> policies_;  // among them
  std::shared_ptr<body_wish> wish_;
};

}  // namespace weft::http
