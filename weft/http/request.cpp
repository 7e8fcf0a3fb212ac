#include <weft/http/request.hpp>

#include <weft/http/carrier.hpp>

namespace weft::http {

unsigned request::major_version() const noexcept { return client_.is_stream() ? 2 : 1; }

const net::tls_info* request::tls() const noexcept { return client_.tls(); }

std::string_view request::scheme() const noexcept {
  const std::string_view said = client_.forwarded_scheme();
  if (!said.empty()) return said;
  return tls() != nullptr ? "https" : "http";
}

}  // namespace weft::http
