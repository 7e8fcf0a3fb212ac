// Receiving and sending datagrams on a socket of the epoll set: the system call, and what it tells
// of the socket's readiness.
//
// Contract: as the attempts of epoll_backend. True: answered. False: it must wait for an edge, or,
// if the result is -ENOBUFS, for a buffer.
//
//   if (attempt(socket, op, buffers)) return true;
#pragma once

#include <weft/loop/epoll/descriptor_table.hpp>

namespace weft {

[[nodiscard]] bool attempt(epoll_descriptor& socket, receive_datagrams_operation& op,
                           buffer_pool& buffers) noexcept;
[[nodiscard]] bool attempt(epoll_descriptor& socket, send_datagrams_operation& op) noexcept;

}  // namespace weft
