// What OpenSSL takes for a socket: the memory of a tls_state.
#pragma once

struct ssl_st;

namespace weft::net::detail {

class tls_state;

/// From now on `session` reads what has come for `state`, and writes what that is to send. False:
/// out of memory.
[[nodiscard]] bool attach_bio(ssl_st& session, tls_state& state) noexcept;

}  // namespace weft::net::detail
