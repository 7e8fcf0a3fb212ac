#include <weft/loop/socket_calls.hpp>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

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

/// sendfile(), without the signal that a connection which has ended would raise: as MSG_NOSIGNAL,
/// which it does not know.
ssize_t send_file_quietly(int socket, int file, off_t offset, std::size_t size_bytes) noexcept {
  sigset_t pipe{};
  sigset_t before{};
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  // Fails for no argument that is given here.
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const ssize_t sent = ::sendfile(socket, file, &offset, size_bytes);
  const int code = errno;
  if (sent < 0 && code == EPIPE) {
    const timespec at_once{};
    // Whether it came for this call or not, it is gone.
    ::sigtimedwait(&pipe, nullptr, &at_once);
  }
  // Fails for no argument that is given here.
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return sent >= 0 ? sent : -code;
}

}  // namespace

loose_file::~loose_file() {
  if (fd_ >= 0) ::close(fd_);
}

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
  const bool is_deferred = options.deferred && address.storage.ss_family != AF_UNIX;
  if (is_deferred && !enable(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT)) return give_up(fd);
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

// A listening TCP socket that closes resets who stands in its line, and between the last accept()
// and the close somebody can always join. So the line is closed first: a filter drops the packets
// that ask for a connection (SYN set), and lets pass those that complete one. Who was dropped asks
// again a second later and is then refused, or let in by the program's successor. Unix sockets have
// this as a state: a listener that is shut down refuses, and still hands out its line.
void close_line(int listener) noexcept {
  constexpr std::uint32_t flags_offset = 13;  // in a TCP header (RFC 9293 section 3.1)
  constexpr std::uint32_t syn = 0x02;
  constexpr std::uint32_t whole_packet = ~std::uint32_t{0};
  std::array<sock_filter, 4> drop_syn{{
      {.code = BPF_LD | BPF_B | BPF_ABS, .jt = 0, .jf = 0, .k = flags_offset},
      {.code = BPF_JMP | BPF_JSET | BPF_K, .jt = 0, .jf = 1, .k = syn},
      {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0},
      {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = whole_packet},
  }};
  const sock_fprog filter{.len = drop_syn.size(), .filter = drop_syn.data()};
  raw_address local;
  if (const auto known = socket_address(listener)) local = *known;
  if (local.storage.ss_family == AF_UNIX)
    ::shutdown(listener, SHUT_RD);  // it listens, which is all that this wants
  else
    // Where filters are forbidden, the moment stays in which a connection can be lost.
    ::setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

bool bytes_wait(int fd) noexcept {
  int count = 0;
  return ::ioctl(fd, FIONREAD, &count) == 0 && count > 0;
}

std::int64_t send_resident(int socket, int file, std::uint64_t offset,
                           std::size_t size_bytes) noexcept {
  // sendfile() would wait for a disk. What is asked for at a time is read ahead together and as a
  // rule forgotten together: its ends stand for all of it.
  for (const std::uint64_t at : {offset, offset + size_bytes - 1}) {
    char seen = 0;
    iovec one{.iov_base = &seen, .iov_len = 1};
    const ssize_t got = ::preadv2(file, &one, 1, static_cast<off_t>(at), RWF_NOWAIT);
    if (got <= 0) return got == 0 ? -EAGAIN : -errno;
  }
  return send_file_quietly(socket, file, static_cast<off_t>(offset), size_bytes);
}

peer_state peer_at(int fd) noexcept {
  pollfd looked_at{.fd = fd, .events = POLLRDHUP, .revents = 0};
  if (::poll(&looked_at, 1, 0) <= 0) return peer_state::open;
  // Neither goes away when a receive that is under way has taken the error.
  constexpr int is_over = POLLERR | POLLHUP;
  return (looked_at.revents & is_over) != 0 ? peer_state::gone : peer_state::silent;
}

std::size_t unacknowledged_at(int fd) noexcept {
  int count = 0;
  return ::ioctl(fd, SIOCOUTQ, &count) == 0 && count > 0 ? static_cast<std::size_t>(count) : 0;
}

bool died_in_line(int code) noexcept {
  switch (code) {
    case ECONNABORTED:
    case EPROTO:
    case ENOPROTOOPT:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET: return true;
    default: return false;
  }
}

int accept_connection(int listener) noexcept {
  constexpr int dead_most = 64;  // that many at once are no accident
  for (int dead = 0;; ++dead) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) return fd;
    if (errno == EWOULDBLOCK) return -EAGAIN;
    if (errno != EINTR && (!died_in_line(errno) || dead == dead_most)) return -errno;
  }
}

result<int> open_wake_descriptor() {
  const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (fd < 0) return fail(last_error());
  return fd;
}

void signal_wake(int wake_fd) noexcept {
  const std::uint64_t one = 1;
  // A full counter means that a wake-up is pending already, which is all that is wanted.
  [[maybe_unused]] const ssize_t written = ::write(wake_fd, &one, sizeof one);
}

void drain_wake(int wake_fd) noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_fd, &count, sizeof count);  // 0: none is due
}

}  // namespace weft
