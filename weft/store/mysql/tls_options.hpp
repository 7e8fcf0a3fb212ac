// Whether what is said to a server is encrypted, and what it has to prove before it is believed.
//
//   const connection_options account{
//       .user = "shop", .tls = {.mode = tls_mode::verify, .ca = "/etc/shop/ca.pem"}};
#pragma once

#include <cstdint>
#include <string>

namespace weft::store::mysql {

enum class tls_mode : std::uint8_t {
  off,
  required,   // encrypted, but whoever answers is believed
  verify_ca,  // its certificate is good, whatever name it is made out to
  verify      // and it is made out to the name, or the address, that the server is asked by
};

/// Files are PEM, and are read for each connection, so that they may be renewed.
struct tls_options {
  tls_mode mode = tls_mode::off;
  /// Who signs the certificates of servers. Empty: whom the system trusts.
  std::string ca{};
  /// The certificates that they have revoked: a list (CRL) of each authority that a server's chain
  /// leads through. Empty: nothing is revoked.
  std::string crl{};
  /// Shown to servers that ask for one, with those that lead to its root. Empty: none.
  std::string certificate{};
  /// Its private key, without a passphrase. Empty: in the same file.
  std::string key{};

  friend bool operator==(const tls_options&, const tls_options&) = default;
};

/// Why the lists of `crl` cannot be gone by; empty: they can. Reads the files: not on a loop. The
/// library goes on without a list that it cannot read, and trusts nobody then.
[[nodiscard]] std::string fault_of_lists(const tls_options& of);

}  // namespace weft::store::mysql
