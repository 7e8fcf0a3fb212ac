#include <weft/loop/socket_calls.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

namespace weft {
namespace {

error last_error() noexcept { return error::from_errno(errno); }

bool enable(int fd, int level, int option) noexcept {
  const int on = 1;
  return ::setsockopt(fd, level, option, &on, sizeof on) == 0;
}

result<int> give_up(int fd) noexcept {
  const error why = last_error();
  ::close(fd);
  return fail(why);
}

}  // namespace

result<int> open_stream_socket(int family) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(last_error());
  if (family != AF_UNIX && !enable(fd, IPPROTO_TCP, TCP_NODELAY)) return give_up(fd);
  return fd;
}

result<int> open_listener(const raw_address& address, const listen_options& options) {
  if (options.inherited >= 0) {
    const int copy = ::fcntl(options.inherited, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return fail(last_error());
    return copy;
  }
  auto opened = open_stream_socket(address.storage.ss_family);
  if (!opened) return opened;
  const int fd = *opened;
  if (!enable(fd, SOL_SOCKET, SO_REUSEADDR)) return give_up(fd);
  if (options.shared && !enable(fd, SOL_SOCKET, SO_REUSEPORT)) return give_up(fd);
  if (::bind(fd, address.get(), address.size_bytes) != 0) return give_up(fd);
  if (::listen(fd, options.backlog) != 0) return give_up(fd);
  return fd;
}

result<raw_address> socket_address(int fd) {
  raw_address address;
  address.size_bytes = sizeof address.storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size_bytes) != 0)
    return fail(last_error());
  return address;
}

result<raw_address> socket_peer(int fd) {
  raw_address address;
  address.size_bytes = sizeof address.storage;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size_bytes) != 0)
    return fail(last_error());
  return address;
}

result<int> open_wake_descriptor() {
  const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (fd < 0) return fail(last_error());
  return fd;
}

void signal_wake(int wake_fd) noexcept {
  // A full counter means that a wake-up is pending already, which is all that is wanted.
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd, &one, sizeof one);
}

void drain_wake(int wake_fd) noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_fd, &count, sizeof count);
}

}  // namespace weft
