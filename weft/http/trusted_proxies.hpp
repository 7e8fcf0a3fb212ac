// Who may say in whose name it comes: the proxies and balancers before a server.
//
// Contract: a value, made of the texts of an option: networks ("10.0.0.0/8", "fd00::/8"), addresses
// ("10.0.0.7"), and "unix:" for whoever connects by a Unix socket. Empty, it contains nobody;
// everybody is "0.0.0.0/0" with "::/0", each of which holds its own family alone. Asking allocates
// nothing.
//
//   auto inner = http::trusted_proxies::parse(std::vector<std::string>{"10.0.0.0/8", "unix:"});
//   if (inner->contain(peer)) ...
#pragma once

#include <expected>
#include <span>
#include <string>
#include <vector>

#include <weft/http/connection_peer.hpp>
#include <weft/net/ip_address.hpp>

namespace weft::http {

class trusted_proxies {
 public:
  trusted_proxies() = default;
  /// The error is the text that is none of these.
  [[nodiscard]] static std::expected<trusted_proxies, std::string> parse(
      std::span<const std::string> texts);

  [[nodiscard]] bool empty() const noexcept { return networks_.empty() && !has_unix_; }
  [[nodiscard]] bool contain(const net::ip_address& address) const noexcept;
  /// By its address, or as a Unix socket; who is not known is trusted by no list.
  [[nodiscard]] bool contain(const connection_peer& peer) const noexcept;

 private:
  std::vector<net::ip_network> networks_;
  bool has_unix_ = false;
};

}  // namespace weft::http
