// How the client comes to a connection: the name looked up, the fastest address, TLS where the URL
// says https. Where client_options::proxy names a proxy, the connection is one to that, and for
// https the tunnel through it.
//
// Contract: internal to http. dial() takes connect_timeout at most, and obeys its task. What is
// needed is made when it is needed first: the resolver, and for https what certificates are checked
// with, whose files are read then, which may block for some milliseconds. reload() has them read
// again before the next handshake, and where names are looked up before the next look-up. One
// shard.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include <weft/base/result.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/client/client_options.hpp>
#include <weft/http/client/proxy_url.hpp>
#include <weft/http/client/request_fault.hpp>
#include <weft/http/client/url.hpp>
#include <weft/net/handshake_gate.hpp>
#include <weft/net/resolver.hpp>
#include <weft/net/tcp_stream.hpp>
#include <weft/net/tls_context.hpp>

namespace weft::http {

class client_dialer {
 public:
  client_dialer(event_loop& loop, const client_options& options)
      : loop_{loop}, options_{options}, proxy_{read_proxy(options.proxy)}, gate_{loop} {}

  [[nodiscard]] task<std::expected<net::tcp_stream, request_fault>> dial(url_parts to);
  /// As dial(), for what only begins as a request of HTTP/1.1: that is what is agreed on by TLS,
  /// and a proxy is asked for a tunnel by http as well.
  [[nodiscard]] task<std::expected<net::tcp_stream, request_fault>> dial_through(url_parts to);

  /// What is asked of `to` is asked of the proxy, in a request that names it whole (RFC 9112
  /// section 3.2.2).
  [[nodiscard]] bool asks_proxy(const url_parts& to) const noexcept {
    return to.scheme == scheme::http && uses_proxy(to);
  }

  /// Only where asks_proxy() is true: dial() has found it valid.
  [[nodiscard]] const proxy_url& proxy() const noexcept { return *proxy_; }

  void reload() noexcept {
    for_requests_.reset();
    for_others_.reset();
    if (names_) names_->reload();
  }

 private:
  [[nodiscard]] bool uses_proxy(const url_parts& to) const noexcept;
  task<std::expected<net::tcp_stream, request_fault>> connect(url_parts to, bool always_tunnels);
  task<std::expected<net::tcp_stream, request_fault>> secure(net::tcp_stream plain, url_parts to,
                                                             bool is_for_requests);
  [[nodiscard]] std::expected<net::tls_context*, std::string> context(bool is_for_requests);

  event_loop& loop_;
  const client_options& options_;
  std::expected<proxy_url, std::string> proxy_;  // used if uses_proxy()
  net::handshake_gate gate_;
  std::optional<net::resolver> names_;
  std::optional<net::tls_context> for_requests_;
  std::optional<net::tls_context> for_others_;  // which begin as HTTP/1.1
};

}  // namespace weft::http
