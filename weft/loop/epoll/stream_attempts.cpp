#include <weft/loop/epoll/stream_attempts.hpp>

#include <sys/socket.h>

#include <cerrno>

#include <weft/loop/epoll/plain_calls.hpp>

namespace weft {

bool attempt(epoll_descriptor& socket, send_operation& op) noexcept {
  if (!socket.writable) return false;
  ssize_t sent = 0;
  do
    sent = op.message != nullptr ? ::sendmsg(socket.fd, op.message, MSG_NOSIGNAL)
                                 : plain_calls::send(socket.fd, op.data, op.size, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent < 0 && errno == EAGAIN) {
    socket.writable = false;
    return false;
  }
  op.result = sent >= 0 ? static_cast<std::int32_t>(sent) : -errno;
  return true;
}

bool attempt(epoll_descriptor& socket, connect_operation& op) noexcept {
  if (op.address != nullptr) {
    const int answered = ::connect(socket.fd, op.address, op.address_bytes);
    op.address = nullptr;  // the next attempt asks how this one ended
    if (answered != 0 && (errno == EINPROGRESS || errno == EINTR)) {
      socket.writable = false;
      return false;
    }
    op.result = answered == 0 ? 0 : -errno;
    return true;
  }
  if (!socket.writable) return false;
  int code = 0;
  socklen_t size = sizeof code;
  if (::getsockopt(socket.fd, SOL_SOCKET, SO_ERROR, &code, &size) != 0) code = errno;
  op.result = -code;
  return true;
}

}  // namespace weft
