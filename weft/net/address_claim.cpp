#include <weft/net/address_claim.hpp>

#include <unistd.h>

#include <cerrno>

#include <weft/loop/socket_calls.hpp>

namespace weft::net {
namespace {

result<int> give_up(int fd) noexcept {
  const error why = error::from_errno(errno);
  ::close(fd);
  return fail(why);
}

result<int> bind_alone(const raw_address& address) {
  const auto opened = open_stream_socket(address.storage.ss_family);
  if (!opened) return opened;
  const int on = 1;
  // Connections of a predecessor that linger in TIME_WAIT are no owners.
  if (::setsockopt(*opened, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return give_up(*opened);
  if (::bind(*opened, address.get(), address.size_bytes) != 0) return give_up(*opened);
  if (::setsockopt(*opened, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) return give_up(*opened);
  return opened;
}

}  // namespace

result<address_claim> address_claim::take(const endpoint& wanted) {
  const auto fd = bind_alone(wanted.raw());
  if (!fd) return fail(fd.error());
  const auto bound = socket_address(*fd);
  if (!bound) {
    ::close(*fd);
    return fail(bound.error());
  }
  return address_claim{*fd, endpoint{*bound}};
}

address_claim::~address_claim() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace weft::net
