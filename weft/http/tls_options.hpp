// What an HTTP server needs to be told to speak TLS.
#pragma once

#include <string>
#include <vector>

#include <weft/base/bounds.hpp>
#include <weft/net/tls_context.hpp>

namespace weft::http {

struct tls_options {
  /// PEM: the server's certificate, then those that lead to its root. Empty, with all else as it
  /// is here: no TLS.
  std::string certificate{};
  /// PEM: its private key, without a passphrase. Empty: in the same file.
  std::string key{};
  /// For clients that ask for another name (SNI): the first that is made out to it.
  std::vector<net::tls_certificate> more{};
  /// Whether clients have to say who they are: off, asked, required.
  net::client_certificates clients = net::client_certificates::off;
  /// PEM: who signs their certificates.
  std::string client_ca{};
  /// PEM: the certificates that they have revoked, a list (CRL) of each authority that a client's
  /// chain leads through. One that is missing or out of date lets none of that authority's in.
  /// Empty: nothing is revoked.
  std::string client_crl{};
  /// tls_1_2 or tls_1_3.
  net::tls_version minimum = net::tls_version::tls_1_2;
  /// Steps of handshakes in a turn of the loop: each may take a millisecond from those who are
  /// served already.
  unsigned handshakes_per_turn = 2;

  friend bool operator==(const tls_options&, const tls_options&) = default;

  static constexpr auto bounds() {
    return weft::bounds(at_least<&tls_options::handshakes_per_turn>(1));
  }
};

}  // namespace weft::http
