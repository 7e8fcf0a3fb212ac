// Goes on with the traces of those who ask (W3C Trace Context).
//
// Contract: a middleware. A request with a valid `traceparent` is a span of its own in that trace;
// one without begins a trace. Handlers that wait, and all that they call, find it in their
// environment: http::client sends it on. exchange::trace() has it for the rest. Believes whoever
// asks: nothing but the correlation of logs is to hang on it. Allocates for a tracestate alone that
// is longer than what a string keeps within itself.
//
//   http.wrap_all(http::trace_requests{});
#pragma once

#include <cstdint>

#include <weft/base/random.hpp>
#include <weft/http/exchange.hpp>

namespace weft::http {

class trace_requests {
 public:
  /// Identities are drawn from `seed`, which is to be the same in no two processes.
  explicit trace_requests(std::uint64_t seed = draw_seed()) noexcept : dice_{seed} {}

  void operator()(exchange& e, handler& next);

 private:
  static std::uint64_t draw_seed();

  random dice_;
};

}  // namespace weft::http
