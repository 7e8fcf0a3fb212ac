#include <weft/http/tls_door.hpp>

#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/net/tls_stream.hpp>

namespace weft::http {
namespace {

net::tls_server_options for_context(const tls_options& options, bool http2) {
  net::tls_server_options made{.certificates = {{options.certificate, options.key}},
                               .clients = options.clients,
                               .client_ca = options.client_ca,
                               .client_crl = options.client_crl,
                               .minimum = options.minimum,
                               // Who can do no more names the second alone (`curl --http1.0`).
                               .protocols = {"http/1.1", "http/1.0"}};
  if (http2) made.protocols.insert(made.protocols.begin(), "h2");
  made.certificates.insert(made.certificates.end(), options.more.begin(), options.more.end());
  return made;
}

}  // namespace

net::tls_context::outcome read_tls(const tls_options& options, bool http2,
                                   std::shared_ptr<net::tls_ticket_keys> tickets) {
  if (options.certificate.empty())
    return std::unexpected{"http.server.tls says how, but names no certificate"};
  return net::tls_context::server(for_context(options, http2), std::move(tickets));
}

result<void> tls_door::open(const tls_options& options, std::string_view address, bool http2,
                            std::shared_ptr<net::tls_ticket_keys> tickets) {
  auto made = read_tls(options, http2, std::move(tickets));
  if (!made) {
    log::error(weft::format("{} cannot be served with TLS: {}", address, made.error()));
    return fail(errc::invalid_argument);
  }
  log::debug(weft::format("{}: TLS is by {}", address, net::tls_library()));
  context_.emplace(std::move(*made));
  return {};
}

result<void> tls_door::reload(std::string_view address) {
  if (!context_) return {};
  if (const auto read = context_->reload(); !read) {
    log::error(weft::format("{} keeps the certificates it has: {}", address, read.error()));
    return fail(errc::invalid_argument);
  }
  log::info(weft::format("{} has read its certificates again", address));
  return {};
}

task<result<net::tcp_stream>> tls_door::pass(net::tcp_stream plain) {
  co_return co_await net::tls_accept(std::move(plain), *context_, gate_);
}

}  // namespace weft::http
