// Sending and connecting on a stream socket of the epoll set: the system call, and what it tells of
// the socket's readiness.
//
// Contract: as the attempts of epoll_backend. True: answered. False: it must wait for an edge.
//
//   if (attempt(socket, op)) return true;
#pragma once

#include <weft/loop/epoll/descriptor_table.hpp>

namespace weft {

[[nodiscard]] bool attempt(epoll_descriptor& socket, send_operation& op) noexcept;
[[nodiscard]] bool attempt(epoll_descriptor& socket, connect_operation& op) noexcept;

}  // namespace weft
