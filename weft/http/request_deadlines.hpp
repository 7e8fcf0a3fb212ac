// Works no longer for a request than its client waits.
//
// Problem: a service that calls a slow one works on for clients that have given up. Contract: a
// middleware. A request may say in a field how many milliseconds its client still waits; those are
// the deadline of its handler's environment, and of all that it calls: http::client sends on what
// is left. A wait that ends with it is errc::timed_out, which a handler that returns it answers
// with 504. With nothing left the handler is not even called. Lengths, not times of day, for clocks
// differ. More than a day is no deadline; what is no number is answered with 400. A client can
// shorten its own requests alone; the server's own handler_timeout holds as ever.
//
//   http.wrap_all(http::request_deadlines{});  // Request-Timeout-Ms
//   http.wrap_all(http::request_deadlines{"X-Envoy-Expected-Rq-Timeout-Ms"});
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <weft/http/exchange.hpp>

namespace weft::http {

inline constexpr std::string_view request_timeout_field = "Request-Timeout-Ms";

class request_deadlines {
 public:
  explicit request_deadlines(std::string field = std::string{request_timeout_field})
      : field_{std::move(field)} {}

  void operator()(exchange& e, handler& next) const;

 private:
  std::string field_;
};

}  // namespace weft::http
