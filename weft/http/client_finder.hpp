// Who asks, where trusted proxies say so in a header field.
//
// Contract: internal to http: a middleware, outermost around a server with
// `http.server.forwarding`. What comes after it sees the client in exchange::client() and
// request::scheme(). What a trusted proxy vouches for and is malformed is answered with 400.
// Allocates once, not a request.
//
//   around.add(make_middleware(client_finder{forwarding::forwarded, trusted}), nullptr);
#pragma once

#include <weft/http/exchange.hpp>
#include <weft/http/forwarded.hpp>
#include <weft/http/trusted_proxies.hpp>

namespace weft::http {

class client_finder {
 public:
  /// `trusted` outlives this.
  client_finder(forwarding field, const trusted_proxies& trusted) noexcept
      : field_{field}, trusted_{&trusted} {}

  void operator()(exchange& e, handler& next) const;

 private:
  forwarding field_;
  const trusted_proxies* trusted_;
};

}  // namespace weft::http
