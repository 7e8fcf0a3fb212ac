// The other end of a connection, as far as anybody knows.
//
// Problem: an address that is not there has three reasons, a Unix socket, a client that has reset
// its connection before it was asked for, and a balancer that does not say whom it passes on; only
// the first may mean "a program of this machine". Contract: a value; what is not known is trusted
// by nobody.
//
//   const auto peer = connection_peer::of(stream.peer_endpoint());
//   if (peer.is_unix_socket) ...
#pragma once

#include <sys/socket.h>

#include <optional>

#include <weft/base/result.hpp>
#include <weft/net/endpoint.hpp>
#include <weft/net/ip_address.hpp>

namespace weft::http {

struct connection_peer {
  std::optional<net::ip_address> address{};
  bool is_unix_socket = false;
  /// It is a balancer that passes somebody on and does not say whom: what comes by it of others is
  /// not believed.
  bool hides_its_client = false;

  /// What the system says; nothing is known where that fails.
  [[nodiscard]] static connection_peer of(const result<net::endpoint>& other_end) noexcept {
    if (!other_end) return {};
    return {.address = net::ip_address::of(*other_end),
            .is_unix_socket = other_end->family() == AF_UNIX};
  }
};

}  // namespace weft::http
