// Session tickets (RFC 5077 section 4, RFC 8446 section 4.6.1): sealed with keys that are renewed,
// and worth nothing once the client's certificate has ended.
//
// Contract: internal to net. A ticket's name, which the library authenticates with the rest of it,
// is the name of its key and, masked, until when the client's certificates count. A ticket whose
// time has come is not opened: its client shakes hands in full, where its certificate is checked.
// What a resumed session is given in turn is bound by the same moment. Where other certificates,
// or other revocation lists, are trusted than before no session of then is resumed either: that is
// told apart by the library's session id context (tls_setup.cpp).
#pragma once

#include <weft/net/tls_library.hpp>

namespace weft::net::detail {

/// With the answers that the library asks for.
int seal_ticket(SSL* session, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                ticket_mac* mac, int seals) noexcept;

}  // namespace weft::net::detail
