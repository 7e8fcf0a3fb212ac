#include <weft/http/trusted_proxies.hpp>

#include <algorithm>

namespace weft::http {

std::expected<trusted_proxies, std::string> trusted_proxies::parse(
    std::span<const std::string> texts) {
  trusted_proxies made;
  for (const std::string& each : texts) {
    if (each == "unix:") {
      made.has_unix_ = true;
      continue;
    }
    const auto network = net::ip_network::parse(each);
    if (!network) return std::unexpected{each};
    made.networks_.push_back(*network);
  }
  return made;
}

bool trusted_proxies::contain(const net::ip_address& address) const noexcept {
  return std::ranges::any_of(
      networks_, [&address](const net::ip_network& each) { return each.contains(address); });
}

bool trusted_proxies::contain(const connection_peer& peer) const noexcept {
  if (peer.hides_its_client) return false;
  return peer.address ? contain(*peer.address) : peer.is_unix_socket && has_unix_;
}

}  // namespace weft::http
