// Until when a peer's certificates count, and with them its sessions and connections.
//
// Problem: a session that is resumed checks no certificate, so without a bound of its own it would
// outlive the certificate that it was opened with. Contract: internal to net. Each connection has
// one, filled by the check of the peer's chain (verify_client) or, where a session is resumed, by
// the ticket (tls_tickets.hpp). Times are seconds of the wall clock since 1970.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include <weft/net/tls_library.hpp>

namespace weft::net::detail {

struct tls_setup;

struct tls_validity {
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  std::int64_t of_certificates = never;  // of this handshake
  std::int64_t of_ticket = never;        // the last one that was opened

  /// The certificates may be used before this moment. `never`: no certificate was checked.
  [[nodiscard]] std::int64_t until(SSL* session) const noexcept {
    return SSL_session_reused(session) == 1 ? of_ticket : of_certificates;
  }
};

/// Has the callbacks of `session` find `validity`, which outlives it. False: there is no memory.
[[nodiscard]] bool attach_validity(SSL& session, tls_validity& validity) noexcept;
[[nodiscard]] tls_validity& validity_of(const SSL* session) noexcept;

/// The setup that the session's context was made for.
[[nodiscard]] const tls_setup& setup_of(const SSL* session) noexcept;

/// Of a certificate or a revocation list; `never`: it has none.
[[nodiscard]] std::int64_t seconds_of(const ASN1_TIME* date) noexcept;

/// Checks the chain of a client and notes until when it counts. `of` is the tls_setup.
int verify_client(X509_STORE_CTX* chain, void* of) noexcept;

}  // namespace weft::net::detail
