// The system calls both kernel backends make to set sockets up.
//
// Contract: descriptors are made non-blocking and close-on-exec; a failed step closes what was made
// and names its errno.
#pragma once

#include <weft/base/result.hpp>
#include <weft/loop/backend.hpp>

namespace weft {

/// A bound, listening socket. TCP_NODELAY is set on it, which accepted sockets inherit.
[[nodiscard]] result<int> open_listener(const raw_address& address, const listen_options& options);
/// An unconnected stream socket, with TCP_NODELAY unless it is a Unix socket.
[[nodiscard]] result<int> open_stream_socket(int family);
[[nodiscard]] result<raw_address> socket_address(int fd);
[[nodiscard]] result<raw_address> socket_peer(int fd);
/// An eventfd for wake().
[[nodiscard]] result<int> open_wake_descriptor();
void signal_wake(int wake_fd) noexcept;
void drain_wake(int wake_fd) noexcept;

}  // namespace weft
