// What a server proves of itself before it is told who logs in, and how.
//
// Problem: MariaDB Connector/C speaks in clear text to a server, or to whoever stands between, that
// says that it knows no TLS; what else it looks at differs from version to version; and it compares
// certificates with the address that it connects to, not with the name that the address was found
// by. Contract: the library logs in by a way of our own to begin with, which is none: it asks for
// TLS and shows nothing, looks at the certificate, and only then lets the server name the account's
// own way, which costs a round trip for each connection. Nothing but the user's name is said to a
// server that has proved nothing. Source: "Connection Phase" of the MySQL client/server protocol,
// "Authentication Method Mismatch".
//
//   server_proof proof{tls_mode::verify, "db.example"};
//   if (auto fault = proof.ask_for(handle); !fault.empty()) complain(fault);
//   // Then log in by the library.
#pragma once

#include <string>
#include <string_view>

#include <weft/store/mysql/tls_options.hpp>

struct st_mysql;

namespace weft::store::mysql {

/// The name of that way, which a list of those that are allowed has to have.
inline constexpr const char* proof_method = "weft_server_proof";

class server_proof {
 public:
  /// `name`: what the server's certificate is to be made out to, a name or an address.
  server_proof(tls_mode mode, std::string_view name) : mode_{mode}, name_{name} {}

  /// Before `handle` logs in, during which this stays. Why it cannot be had of this library; empty:
  /// it is asked for.
  [[nodiscard]] std::string ask_for(st_mysql* handle) const;

  /// Why it is not believed; empty: it is. `session`: an SSL*, after its handshake.
  [[nodiscard]] std::string fault(const void* session) const;

 private:
  tls_mode mode_;
  std::string name_;
};

/// What to do about a failure of TLS, as `told` by the library; empty: nothing is known.
[[nodiscard]] std::string_view remedy_of(std::string_view told);

}  // namespace weft::store::mysql
