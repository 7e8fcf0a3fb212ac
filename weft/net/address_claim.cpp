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

const char* path_of(const raw_address& address) noexcept {
  return reinterpret_cast<const sockaddr_un&>(address.storage).sun_path;
}

/// Sees to it that no socket file is in the way. Whoever listens there would take a connection.
result<void> free_path(const raw_address& address) {
  const auto probe = open_stream_socket(AF_UNIX);
  if (!probe) return fail(probe.error());
  const int refused = ::connect(*probe, address.get(), address.size_bytes) == 0 ? 0 : errno;
  ::close(*probe);
  if (refused == ENOENT) return {};
  const char* const path = path_of(address);
  struct stat file{};
  const bool dead = refused == ECONNREFUSED && ::lstat(path, &file) == 0 && S_ISSOCK(file.st_mode);
  if (!dead)
    return fail(refused == EACCES ? error::from_errno(EACCES)
                                  : error{errc::address_in_use, EADDRINUSE});
  if (::unlink(path) != 0 && errno != ENOENT) return fail(error::from_errno(errno));
  return {};
}

/// The socket has its mode before its file is there, less what the umask takes: nobody connects
/// whom the mode keeps out. The file gets the rest.
result<int> listen_alone(const endpoint& where, unsigned mode) {
  const bool has_file = !where.is_abstract();
  if (has_file)
    if (const auto freed = free_path(where.raw()); !freed) return fail(freed.error());
  const auto opened = open_stream_socket(AF_UNIX);
  if (!opened) return opened;
  const bool has_mode = has_file && mode != 0;
  if (has_mode && ::fchmod(*opened, mode) != 0) return give_up(*opened);
  if (::bind(*opened, where.raw().get(), where.raw().size_bytes) != 0) return give_up(*opened);
  if (has_mode && ::chmod(path_of(where.raw()), mode) != 0) return give_up(*opened);
  if (::listen(*opened, listen_options{}.backlog) != 0) return give_up(*opened);
  return opened;
}

}  // namespace

result<address_claim> address_claim::take(const endpoint& wanted, unsigned unix_mode) {
  if (wanted.family() == AF_UNIX) return make(listen_alone(wanted, unix_mode), kind::listening);
  return make(bind_alone(wanted.raw()), kind::bound);
}

result<address_claim> address_claim::borrow(int listener) {
  return make(open_listener({}, {.inherited = listener}), kind::lent);
}

result<address_claim> address_claim::make(result<int> fd, kind how) {
  if (!fd) return fail(fd.error());
  const auto bound = socket_address(*fd);
  if (!bound) {
    ::close(*fd);
    return fail(bound.error());
  }
  return address_claim{*fd, endpoint{*bound}, how};
}

listen_options address_claim::options(int backlog) const noexcept {
  if (kind_ == kind::bound) return {.backlog = backlog, .shared = true};
  return {.backlog = backlog, .inherited = fd_, .lent = kind_ == kind::lent};
}

address_claim::~address_claim() {
  if (fd_ < 0) return;
  // Somebody else may have removed it, or the folder may be read-only by now.
  if (kind_ == kind::listening && !address_.is_abstract()) ::unlink(path_of(address_.raw()));
  ::close(fd_);
}

}  // namespace weft::net
