// The way in for what balancers pass on: each connection begins with a PROXY header.
//
// Problem: whoever may send that header may claim any address; and whoever may leave it out passes
// for the balancer. Contract: internal to http: the server of each shard has one if
// `http.server.proxy_protocol` is required. pass() believes trusted proxies alone, takes the header
// and not a byte of what follows, be it TLS or a request, and gives the address that it names. The
// balancer's own connections (LOCAL) have its own address, and so have those that it knows nothing
// of (UNKNOWN), but no proxy is trusted behind these. A connection that does not pass is to be
// closed without a word; why is counted, and told in the log once a minute.
//
//   auto client = co_await door.pass(stream);
//   if (!client) co_return;                      // which closes it
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/base/time.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/trusted_proxies.hpp>
#include <weft/net/ip_address.hpp>
#include <weft/net/tcp_stream.hpp>
#include <weft/telemetry/instruments.hpp>
#include <weft/telemetry/meter.hpp>

namespace weft {
class event_loop;
}

namespace weft::http {

class proxy_door {
 public:
  /// `patience`: for all of the header. `trusted` outlives this.
  proxy_door(event_loop& loop, const trusted_proxies& trusted, duration patience,
             telemetry::meter& meter);

  /// Fails for who does not pass.
  [[nodiscard]] task<result<connection_peer>> pass(net::tcp_stream& stream);

 private:
  enum class refusal : std::uint8_t { untrusted, invalid, late, gone };

  /// `balancer`: who has connected.
  [[nodiscard]] task<result<connection_peer>> read_header(net::tcp_stream& stream,
                                                          connection_peer balancer);
  void refuse(const net::tcp_stream& stream, refusal why, std::string_view what);

  event_loop& loop_;
  const trusted_proxies& trusted_;
  duration patience_;
  std::array<telemetry::counter, 4> refused_;
  time_point quiet_until_ = time_point::min();  // for the log
};

}  // namespace weft::http
