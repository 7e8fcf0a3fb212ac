#include <weft/http/proxy_door.hpp>

#include <string>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/http/proxy_header.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/memory_share.hpp>

namespace weft::http {
namespace {

constexpr duration proxy_door_said_again_after = std::chrono::minutes{1};

telemetry::counter refused_headers(telemetry::meter& meter, std::string_view reason) {
  return meter.counter("http_proxy_connections_refused_total",
                       "Connections closed for want of a PROXY header that is believed",
                       {{"reason", reason}});
}

}  // namespace

proxy_door::proxy_door(event_loop& loop, const trusted_proxies& trusted, duration patience,
                       telemetry::meter& meter)
    : loop_{loop},
      trusted_{trusted},
      patience_{patience},
      refused_{refused_headers(meter, "untrusted"), refused_headers(meter, "invalid"),
               refused_headers(meter, "late"), refused_headers(meter, "gone")} {}

void proxy_door::refuse(const net::tcp_stream& stream, refusal why, std::string_view what) {
  refused_[std::to_underlying(why)].add();
  // Health checks that only connect come and go.
  if (why == refusal::gone || loop_.now() < quiet_until_) return;
  quiet_until_ = loop_.now() + proxy_door_said_again_after;
  const auto peer = stream.peer_endpoint();
  log::warning(weft::format("a connection of {} is closed: {}",
                            peer ? peer->to_string() : "an unknown peer", what));
}

task<result<connection_peer>> proxy_door::pass(net::tcp_stream& stream) {
  const connection_peer peer = connection_peer::of(stream.peer_endpoint());
  if (!trusted_.contain(peer)) {
    refuse(stream, refusal::untrusted, "it is none of http.server.trusted_proxies");
    co_return fail(errc::refused);
  }
  // Of the tasks that wait.
  constexpr std::size_t own_bytes = std::size_t{2} * 1024;
  const auto memory = loop_.memory().hold(memory_kind::connections, own_bytes);
  auto client = co_await with_timeout(patience_, read_header(stream, peer));
  if (client) co_return client;
  if (client.error() == errc::timed_out)
    refuse(stream, refusal::late, "its PROXY header did not come in time");
  else if (client.error() != errc::protocol_error)  // which read_header() has told of
    refuse(stream, refusal::gone, {});
  co_return client;
}

task<result<connection_peer>> proxy_door::read_header(net::tcp_stream& stream,
                                                      connection_peer balancer) {
  constexpr proxy_limits bounds{};
  for (std::string received;;) {
    auto bytes = co_await stream.read();
    if (!bytes) co_return fail(bytes.error());
    const std::size_t before = received.size();
    received.append(bytes->text().substr(0, bounds.header_bytes));
    const proxy_outcome said = parse_proxy_header(received, bounds);
    if (said.status == proxy_status::failed) {
      refuse(stream, refusal::invalid, said.reason);
      co_return fail(errc::protocol_error);
    }
    if (said.status == proxy_status::incomplete) continue;
    bytes->remove_prefix(said.header.size_bytes - before);
    if (!bytes->empty()) stream.put_back(std::move(*bytes));
    if (said.header.source) co_return connection_peer{.address = said.header.source->address};
    balancer.hides_its_client = !said.header.is_local;
    co_return balancer;
  }
}

}  // namespace weft::http
