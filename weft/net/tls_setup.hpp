// A context as OpenSSL has it, for as long as a connection needs it.
//
// Contract: internal to net. Never changed once it is made: a reload makes another. Each connection
// shares the one that its handshake began with.
#pragma once

#include <cstdint>
#include <expected>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <weft/net/tls_context.hpp>

struct ssl_ctx_st;
struct ssl_st;

namespace weft::net::detail {

struct free_tls {
  void operator()(ssl_ctx_st* context) const noexcept;
  void operator()(ssl_st* session) const noexcept;
};

[[nodiscard]] std::int64_t system_wall_seconds() noexcept;

struct tls_setup {
  using made = std::expected<std::shared_ptr<const tls_setup>, std::string>;
  [[nodiscard]] static made server(const tls_server_options& options,
                                   const std::shared_ptr<tls_ticket_keys>& tickets);
  [[nodiscard]] static made client(const tls_client_options& options);

  /// Of a client's certificates: the longest message that has them.
  static constexpr std::size_t certificates_most_bytes = std::size_t{32} * 1024;

  /// One a certificate; all but the first only lend theirs to a connection of the first.
  std::vector<std::unique_ptr<ssl_ctx_st, free_tls>> contexts;
  std::string protocols;  // as ALPN has them on the wire
  std::shared_ptr<tls_ticket_keys> tickets;
  /// By this the dates of clients' certificates are judged.
  std::int64_t (*wall_seconds)() noexcept = &system_wall_seconds;
  /// When the first of the revocation lists has to be renewed: nothing counts for longer.
  std::int64_t lists_end = std::numeric_limits<std::int64_t>::max();
};

/// What OpenSSL says was wrong last; then it has forgotten.
[[nodiscard]] std::string last_tls_complaint();

}  // namespace weft::net::detail
