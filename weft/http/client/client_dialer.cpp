#include <weft/http/client/client_dialer.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/http/client/client_tunnel.hpp>
#include <weft/http/headers.hpp>
#include <weft/net/connector.hpp>
#include <weft/net/tls_stream.hpp>

namespace weft::http {
namespace {

using dialled = std::expected<net::tcp_stream, request_fault>;

dialled no_connection(error why, std::string message) {
  return std::unexpected{request_fault{.why = why, .message = std::move(message)}};
}

bool is_or_is_below(std::string_view host, std::string_view pattern) noexcept {
  if (pattern == "*") return true;
  if (!pattern.starts_with('.')) return equals_ignoring_case(host, pattern);
  return host.size() > pattern.size() &&
         equals_ignoring_case(host.substr(host.size() - pattern.size()), pattern);
}

}  // namespace

bool client_dialer::uses_proxy(const url_parts& to) const noexcept {
  return !options_.proxy.empty() &&
         std::ranges::none_of(options_.no_proxy, [&](std::string_view pattern) {
           return is_or_is_below(to.host, pattern);
         });
}

task<dialled> client_dialer::dial(url_parts to) {
  co_return co_await with_timeout(options_.connect_timeout, connect(to, false));
}

task<dialled> client_dialer::dial_through(url_parts to) {
  co_return co_await with_timeout(options_.connect_timeout, connect(to, true));
}

task<dialled> client_dialer::connect(url_parts to, bool always_tunnels) {
  if (!names_) {
    auto made = net::resolver::create(loop_);
    if (!made)
      co_return no_connection(made.error(), "names cannot be looked up: " + made.error().message());
    names_.emplace(std::move(*made));
  }
  std::string next = address_text(to);
  const bool has_proxy = uses_proxy(to);
  if (has_proxy && !to.zone.empty())
    co_return no_connection(
        errc::invalid_argument,
        weft::format("a proxy cannot reach an address in the zone {} of this machine: add {} to "
                     "http.client.no_proxy",
                     to.zone, to.host));
  if (has_proxy) {
    if (!proxy_) co_return no_connection(errc::invalid_argument, proxy_.error());
    next = proxy_->address;
  }
  auto plain = co_await net::connect(loop_, *names_, next, {.timeout = options_.connect_timeout});
  if (!plain) {
    const error why = plain.error().why;
    co_return std::unexpected{
        request_fault{.why = why,
                      .message = (has_proxy ? "proxy: " : "") + plain.error().message(),
                      .is_unanswered = why != errc::cancelled && why != errc::timed_out &&
                                       why != errc::invalid_argument && why != errc::not_found}};
  }
  if (has_proxy && (always_tunnels || to.scheme == scheme::https)) {
    auto opened = co_await open_tunnel(*plain, host_and_port(to), *proxy_);
    if (!opened) co_return std::unexpected{std::move(opened.error())};
  }
  if (to.scheme == scheme::http) co_return std::move(*plain);
  co_return co_await secure(std::move(*plain), to, !always_tunnels);
}

std::expected<net::tls_context*, std::string> client_dialer::context(bool is_for_requests) {
  std::optional<net::tls_context>& kept = is_for_requests ? for_requests_ : for_others_;
  if (kept) return &*kept;
  auto made = net::tls_context::client(tls_of(options_, is_for_requests));
  if (!made) return std::unexpected{std::move(made.error())};
  return &kept.emplace(std::move(*made));
}

task<dialled> client_dialer::secure(net::tcp_stream plain, url_parts to, bool is_for_requests) {
  const auto opened = context(is_for_requests);
  if (!opened)
    co_return no_connection(errc::invalid_argument, "no TLS can be spoken: " + opened.error());
  std::string complaint;
  auto secured = co_await net::tls_connect(std::move(plain), **opened, to.host, gate_, &complaint);
  if (secured) co_return std::move(*secured);
  const error why = secured.error();
  co_return no_connection(why, weft::format("no TLS with {}: {}", host_and_port(to),
                                            complaint.empty() ? why.message() : complaint));
}

}  // namespace weft::http
