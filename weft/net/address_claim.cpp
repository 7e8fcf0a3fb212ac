#include <weft/net/address_claim.hpp>

#include <sys/stat.h>
#include <sys/un.h>
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

/// Sees to it that no socket file is in the way. Whoever listens there would take a connection.
result<void> free_path(const raw_address& address) {
  const auto probe = open_stream_socket(AF_UNIX);
  if (!probe) return fail(probe.error());
  const int refused = ::connect(*probe, address.get(), address.size_bytes) == 0 ? 0 : errno;
  ::close(*probe);
  if (refused == ENOENT) return {};
  const char* path = reinterpret_cast<const sockaddr_un&>(address.storage).sun_path;
  struct stat file{};
  const bool dead = refused == ECONNREFUSED && ::lstat(path, &file) == 0 && S_ISSOCK(file.st_mode);
  if (!dead)
    return fail(refused == EACCES ? error::from_errno(EACCES)
                                  : error{errc::address_in_use, EADDRINUSE});
  if (::unlink(path) != 0 && errno != ENOENT) return fail(error::from_errno(errno));
  return {};
}

result<int> listen_alone(const endpoint& where) {
  if (!where.is_abstract())
    if (const auto freed = free_path(where.raw()); !freed) return fail(freed.error());
  return open_listener(where.raw(), {});
}

}  // namespace

result<address_claim> address_claim::take(const endpoint& wanted) {
  const auto fd = wanted.family() == AF_UNIX ? listen_alone(wanted) : bind_alone(wanted.raw());
  if (!fd) return fail(fd.error());
  const auto bound = socket_address(*fd);
  if (!bound) {
    ::close(*fd);
    return fail(bound.error());
  }
  return address_claim{*fd, endpoint{*bound}};
}

listen_options address_claim::options(int backlog) const noexcept {
  if (address_.family() == AF_UNIX) return {.backlog = backlog, .inherited = fd_};
  return {.backlog = backlog, .shared = true};
}

address_claim::~address_claim() {
  if (fd_ < 0) return;
  if (address_.family() == AF_UNIX && !address_.is_abstract())
    ::unlink(reinterpret_cast<const sockaddr_un&>(address_.raw().storage).sun_path);
  ::close(fd_);
}

}  // namespace weft::net
