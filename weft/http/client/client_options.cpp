#include <weft/http/client/client_options.hpp>

#include <algorithm>
#include <expected>
#include <utility>

#include <weft/http/client/proxy_url.hpp>
#include <weft/http/field_syntax.hpp>
#include <weft/http/scan.hpp>
#include <weft/net/ascii_name.hpp>

namespace weft::http {
namespace {

/// For ALPN, the first one first.
std::vector<std::string> protocols_for(client_http2 wish) {
  switch (wish) {
    case client_http2::off: return {"http/1.1"};
    case client_http2::always: return {"h2"};
    case client_http2::negotiated: break;
  }
  return {"h2", "http/1.1"};
}

/// Which of the files it is about the message says.
std::string_view first_file_of(const client_tls_options& tls) noexcept {
  if (!tls.ca.empty()) return "tls.ca";
  return tls.crl.empty() ? "tls.certificate" : "tls.crl";
}

/// Of no_proxy: with its dot, as DNS has it.
std::expected<std::string, std::string> ascii_pattern(std::string_view pattern) {
  const std::size_t dots = pattern.starts_with('.') ? 1 : 0;
  return net::ascii_name(pattern.substr(dots)).transform([&](const std::string& name) {
    return std::string{pattern.substr(0, dots)} + name;
  });
}

}  // namespace

client_options with_ascii_hosts(client_options given) {
  for (std::string& each : given.no_proxy) each = ascii_pattern(each).value_or(each);
  return given;
}

net::tls_client_options tls_of(const client_options& options, bool is_for_requests) {
  const client_tls_options& tls = options.tls;
  return {.ca = tls.ca,
          .crl = tls.crl,
          .certificate = {tls.certificate, tls.key.empty() ? tls.certificate : tls.key},
          .minimum = tls.minimum,
          .protocols = protocols_for(is_for_requests ? options.http2 : client_http2::off),
          .verify = !tls.insecure};
}

std::vector<option_fault> client_options::faults() const {
  std::vector<option_fault> found;
  if (!proxy.empty())
    if (auto read = read_proxy(proxy); !read) found.push_back({"proxy", std::move(read.error())});
  for (const std::string& each : no_proxy)
    if (auto read = ascii_pattern(each); !read) found.push_back({"no_proxy", read.error()});
  if (!scan::consists_of<scan::set::field>(user_agent))
    found.push_back({"user_agent", "it has a character that no header field may have"});
  if (!timeout_field.empty() && !field_syntax::is_token(timeout_field))
    found.push_back({"timeout_field", "it is no name of a header field"});
  if (tls.certificate.empty() && !tls.key.empty())
    found.push_back({"tls.key", "there is a key, and no certificate that it belongs to"});
  const bool names_files = !tls.ca.empty() || !tls.crl.empty() || !tls.certificate.empty();
  if (names_files)
    if (auto made = net::tls_context::client(tls_of(*this, true)); !made)
      found.push_back({first_file_of(tls), std::move(made.error())});
  return found;
}

}  // namespace weft::http
