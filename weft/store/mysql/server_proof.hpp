// What a server proves of itself before it is told who logs in, and how.
//
// Problem: MariaDB Connector/C speaks in clear text to a server, or to whoever stands between, that
// says that it knows no TLS; what else it looks at differs from version to version; and it compares
// certificates with the address that it connects to, not with the name that the address was found
// by. Contract: the library logs in by a way of our own to begin with, which is none: it asks for
// TLS and shows nothing, looks at the certificate, and only then lets the server name the account's
// own way, which costs a round trip for each connection. No other way is allowed before: a server
// that says that it knows of none to choose from is refused. Nothing but the user's name is said to
// a server that has proved nothing. Source: "Connection Phase" of the MySQL client/server protocol,
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

/// The name of that way: alone in the list of those that are allowed until the server has proved
/// itself.
inline constexpr const char* proof_method = "weft_server_proof";
/// Those that are allowed then, and without TLS at once: they do not show the password to who
/// listens, or only says that it is the server.
inline constexpr const char* login_methods =
    "mysql_native_password,client_ed25519,caching_sha2_password,sha256_password";

class server_proof {
 public:
  /// `name`: what the server's certificate is to be made out to, a name or an address.
  server_proof(tls_mode mode, std::string_view name) : mode_{mode}, name_{name} {}

  /// Before `handle` logs in, during which this stays. Why it cannot be had of this library; empty:
  /// it is asked for.
  [[nodiscard]] std::string ask_for(st_mysql* handle);

  /// Why it is not believed; empty: it is. `session`: an SSL*, after its handshake.
  [[nodiscard]] std::string fault(const void* session) const;

  /// Whether a login went this way, and the server was believed.
  [[nodiscard]] bool is_given() const noexcept { return is_given_; }
  void give() noexcept { is_given_ = true; }

 private:
  tls_mode mode_;
  std::string name_;
  bool is_given_ = false;
};

/// The SSL* by which an open connection goes; nullptr: it goes without TLS.
[[nodiscard]] void* tls_session_of(const st_mysql& by) noexcept;

/// What to do about a failure of TLS, as `told` by the library; empty: nothing is known.
[[nodiscard]] std::string_view remedy_of(std::string_view told);

}  // namespace weft::store::mysql
