#include <weft/loop/epoll/datagram_attempts.hpp>

#include <cerrno>

#include <weft/loop/datagram_calls.hpp>

namespace weft {

bool attempt(epoll_descriptor& socket, receive_datagrams_operation& op,
             buffer_pool& buffers) noexcept {
  op.result = -EAGAIN;
  if (!socket.readable) return false;
  const received_datagrams got = receive_datagrams(socket.fd, op.room, buffers);
  op.result = got.result;
  socket.readable = !got.drained;
  return got.result != -EAGAIN && got.result != -ENOBUFS;
}

bool attempt(epoll_descriptor& socket, send_datagrams_operation& op) noexcept {
  op.result = 0;
  if (op.pending || !socket.writable) return socket.writable;
  op.result = send_datagrams(socket.fd, op.messages);
  socket.writable = op.result != -EAGAIN;
  return socket.writable;
}

}  // namespace weft
