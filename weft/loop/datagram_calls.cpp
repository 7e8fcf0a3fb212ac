#include <weft/loop/datagram_calls.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace weft {
namespace {

bool bind_as_asked(int fd, const datagram_options& options) noexcept {
  const auto share = [fd] {
    const int on = 1;
    return ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0;
  };
  if (options.sharing == address_sharing::joins && !share()) return false;
  if (options.local != nullptr && ::bind(fd, options.local->get(), options.local->size_bytes) != 0)
    return false;
  if (options.sharing == address_sharing::first && !share()) return false;
  return options.peer == nullptr ||
         ::connect(fd, options.peer->get(), options.peer->size_bytes) == 0;
}

constexpr std::size_t received_most = 16;

/// Where recvmmsg puts what it gets.
struct receive_plan {
  std::array<mmsghdr, received_most> headers;
  std::array<iovec, received_most> parts;

  void add(std::size_t index, datagram& d) noexcept {
    parts[index] = {.iov_base = d.bytes.data(), .iov_len = datagram_most_bytes};
    headers[index] = {};
    msghdr& header = headers[index].msg_hdr;
    header.msg_name = &d.peer.storage;
    header.msg_namelen = sizeof d.peer.storage;
    header.msg_iov = &parts[index];
    header.msg_iovlen = 1;
  }
};

void finish(datagram& d, const mmsghdr& header) noexcept {
  d.peer.size_bytes = header.msg_hdr.msg_namelen;
  d.size_bytes = header.msg_len;  // with MSG_TRUNC: as it was sent
  d.bytes.resize(std::min(d.size_bytes, datagram_most_bytes));
}

}  // namespace

result<int> open_datagram_socket(int family, const datagram_options& options) {
  const int fd = ::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(error::from_errno(errno));
  if (bind_as_asked(fd, options)) return fd;
  const error why = error::from_errno(errno);
  ::close(fd);
  return fail(why);
}

received_datagrams receive_datagrams(int fd, std::span<datagram> room, buffer_pool& pool) noexcept {
  receive_plan plan;
  unsigned asked = 0;
  for (datagram& d : room.first(std::min(room.size(), received_most))) {
    if (!d.bytes) d.bytes = pool.acquire();
    if (!d.bytes) break;
    plan.add(asked++, d);
  }
  if (asked == 0) return {.result = -ENOBUFS};
  int got = 0;
  do got = ::recvmmsg(fd, plan.headers.data(), asked, MSG_TRUNC, nullptr);
  while (got < 0 && errno == EINTR);
  const int result = got >= 0 ? got : -errno;
  const auto count = static_cast<unsigned>(std::max(got, 0));
  for (unsigned i = 0; i < count; ++i) finish(room[i], plan.headers[i]);
  for (unsigned i = count; i < asked; ++i) room[i].bytes.reset();
  return {.result = result, .drained = result == -EAGAIN || (result >= 0 && count < asked)};
}

int send_datagrams(int fd, std::span<mmsghdr> messages) noexcept {
  int sent = 0;
  do sent = ::sendmmsg(fd, messages.data(), static_cast<unsigned>(messages.size()), MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent >= 0 ? sent : -errno;
}

}  // namespace weft
