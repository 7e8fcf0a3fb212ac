// What TLS connections are made with: certificates, keys, and what is asked of the other side.
//
// Problem: files that hold the wrong thing, a certificate that is renewed while thousands are
// connected, and protocol versions nobody should speak any more. Contract: a context is made whole
// or not at all; what is wrong is said with the file, the cause and the way out. TLS 1.2 and 1.3,
// by OpenSSL 3 or AWS-LC; in 1.2 only ephemeral keys and authenticated ciphers; no renegotiation,
// no compression, no early data. reload() reads the files again and swaps at once: handshakes that
// begin later have the new ones, whatever has begun keeps the old; if a file is wrong all stays as
// it was. Sessions are resumed by tickets, whose keys outlive a reload and may be shared by the
// contexts of several shards; not beyond the end of the client's certificates, and not where other
// client certificates are asked for or trusted than before. A connection ends with its client's
// certificates. Reading files blocks: some milliseconds. One shard, but for the ticket keys.
//
//   auto context = net::tls_context::server({.certificates = {{"site.pem", "site.key"}}});
//   if (!context) log::error(context.error());
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::net {

class tls_ticket_keys;

namespace detail {
struct tls_setup;
}

enum class tls_version : std::uint8_t { tls_1_2, tls_1_3 };

/// A PEM file with the certificate first and then those that lead to its root, and one with its
/// private key, without a passphrase. They may be one file.
struct tls_certificate {
  std::string certificate;
  std::string key;

  friend bool operator==(const tls_certificate&, const tls_certificate&) = default;
};

enum class client_certificates : std::uint8_t {
  off,
  asked,    // who gives one must give a good one
  required  // who gives none is refused
};

struct tls_server_options {
  /// Whoever asks for a name (SNI) is given the first that is made out to it; others get the first.
  std::vector<tls_certificate> certificates;
  client_certificates clients = client_certificates::off;
  /// PEM: who signs the certificates of clients.
  std::string client_ca{};
  /// PEM: the certificates that they have revoked: a list (CRL) of each authority that a client's
  /// chain leads through. One that is missing or out of date lets none of that authority's in.
  /// Empty: nothing is revoked.
  std::string client_crl{};
  tls_version minimum = tls_version::tls_1_2;
  /// What is spoken here, the best first, as ALPN names it. A client that asks for none of these is
  /// refused; one that does not ask is not. None: nobody is asked.
  std::vector<std::string> protocols{};
  /// Seconds since 1970, by which the dates of clients' certificates are judged. nullptr: the
  /// system's clock; others are for tests.
  std::int64_t (*wall_seconds)() noexcept = nullptr;
};

struct tls_client_options {
  /// PEM: who signs the certificates of servers. Empty: whom the system trusts.
  std::string ca{};
  /// PEM: the certificates that they have revoked, as tls_server_options::client_crl has them.
  std::string crl{};
  /// Shown to servers that ask for one. Empty: none.
  tls_certificate certificate{};
  tls_version minimum = tls_version::tls_1_2;
  std::vector<std::string> protocols{};
  /// Whether servers must prove who they are. Not to ask for that is to talk to whoever stands
  /// between: for tests.
  bool verify = true;
};

/// By whom all this is: "OpenSSL 3.0.19 27 Jan 2026", or "AWS-LC 5.12.0" (docs/tls.md).
[[nodiscard]] std::string_view tls_library() noexcept;

class tls_context {
 public:
  using outcome = std::expected<tls_context, std::string>;

  /// `tickets`: of several contexts that resume each other's sessions. None: its own.
  [[nodiscard]] static outcome server(tls_server_options options,
                                      std::shared_ptr<tls_ticket_keys> tickets = nullptr);
  /// Servers have to prove who they are, unless the options say otherwise.
  [[nodiscard]] static outcome client(tls_client_options options);

  /// Reads all files again.
  [[nodiscard]] std::expected<void, std::string> reload();

  /// For those who shake hands.
  [[nodiscard]] const std::shared_ptr<const detail::tls_setup>& setup() const noexcept {
    return setup_;
  }

 private:
  tls_context() = default;

  tls_server_options of_server_;
  tls_client_options of_client_;
  std::shared_ptr<tls_ticket_keys> tickets_;  // none: of a client
  std::shared_ptr<const detail::tls_setup> setup_;
};

}  // namespace weft::net
