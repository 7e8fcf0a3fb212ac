// How often clients may ask a server: 429 and 503 with Retry-After for what goes beyond.
//
// Contract: a service around all that the server of its shard answers (server::wrap_all()). Each
// shard counts for itself, and a connection stays on one. A client is an address, of IPv6 its first
// 64 bits; all of whom nobody knows the address are one client, but those of a Unix socket, which
// are limited together with all others alone. What is refused costs
// no handler, and counts against nobody. Throws std::invalid_argument for limits that no clock can
// keep. Allocates nothing after its construction, but for what a connection notes of its client,
// once.
//
//   app.add<http::server>();
//   app.add<http::request_quota>({.client = {.requests = 50, .burst = 200}});
#pragma once

#include <optional>

#include <weft/base/unique_function.hpp>
#include <weft/http/exchange.hpp>
#include <weft/http/rate_limiter.hpp>
#include <weft/http/server.hpp>

namespace weft {
class event_loop;
}

namespace weft::http {

struct request_quota_options {
  /// Of each client; 429 beyond. 0 requests: as many as they like.
  rate_limit client{};
  /// Of all clients together; 503 beyond. 0 requests: as many as they like.
  rate_limit all{.requests = 0, .burst = 10'000, .keys = 1};
};

class request_quota {
 public:
  using options = request_quota_options;

  request_quota(request_quota_options options, server& http, event_loop& loop);

 private:
  void admit(exchange& e, handler& next);

  event_loop& loop_;
  std::optional<rate_limiter> client_;
  std::optional<rate_limiter> all_;
};

}  // namespace weft::http
