#include <weft/net/udp_socket.hpp>

#include <sys/socket.h>

namespace weft::net {

result<udp_socket> udp_socket::make(event_loop& loop, int family, const datagram_options& options) {
  const auto socket = loop.io().open_datagram(family, options);
  if (!socket) return fail(socket.error());
  return udp_socket{loop, **socket};
}

result<udp_socket> udp_socket::bind(event_loop& loop, const endpoint& where,
                                    address_sharing sharing) {
  if (where.family() == AF_UNIX) return fail(errc::unsupported);
  return make(loop, where.family(), {.local = &where.raw(), .sharing = sharing});
}

result<udp_socket> udp_socket::connect(event_loop& loop, const endpoint& peer) {
  return make(loop, peer.family(), {.peer = &peer.raw()});
}

result<udp_socket> udp_socket::open(event_loop& loop, int family) { return make(loop, family, {}); }

result<endpoint> udp_socket::local_endpoint() const {
  return state_->loop().io().local_address(state_->socket()).transform([](const raw_address& a) {
    return endpoint{a};
  });
}

}  // namespace weft::net
