// What two sides of a secured stream have agreed on, and who the other one is.
#pragma once

#include <string>
#include <string_view>

#include <weft/net/tls_context.hpp>

namespace weft::net {

struct tls_info {
  tls_version version = tls_version::tls_1_2;
  /// As OpenSSL names it: "TLS_AES_256_GCM_SHA384".
  std::string_view cipher{};
  /// The name the client asked for (SNI); empty: none.
  std::string server_name{};
  /// What ALPN chose; empty: nothing.
  std::string protocol{};
  /// Of the certificate the other side has proved to have, which has been checked: "CN=ann,O=Ann"
  /// (RFC 2253). Empty: it gave none.
  std::string peer_subject{};
  /// Whether a session of before goes on.
  bool is_resumed = false;
};

}  // namespace weft::net
