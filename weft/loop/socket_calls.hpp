// The system calls both kernel backends make to set sockets up.
//
// Contract: descriptors are made non-blocking and close-on-exec; a failed step closes what was made
// and names its errno.
#pragma once

#include <memory>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/loose_socket.hpp>

namespace weft {

/// A socket of the kernel's that no backend knows.
class loose_file final : public loose_socket {
 public:
  explicit loose_file(int fd) noexcept : fd_{fd} {}
  ~loose_file() override;
  /// Of what a kernel backend has loosened: the descriptor, which is the caller's from now on.
  [[nodiscard]] static int take(std::unique_ptr<loose_socket> from) noexcept {
    return std::exchange(static_cast<loose_file&>(*from).fd_, -1);
  }

 private:
  int fd_;
};

/// A bound, listening socket. TCP_NODELAY is set on it, which accepted sockets inherit.
[[nodiscard]] result<int> open_listener(const raw_address& address, const listen_options& options);
/// An unconnected stream socket, with TCP_NODELAY unless it is a Unix socket.
[[nodiscard]] result<int> open_stream_socket(int family);
[[nodiscard]] result<raw_address> socket_address(int fd);
[[nodiscard]] result<raw_address> socket_peer(int fd);
/// Keeps newcomers out of a listener's line, but not those who have begun to shake hands.
void close_line(int listener) noexcept;
/// Whether a receive would give bytes now.
[[nodiscard]] bool bytes_wait(int fd) noexcept;
/// As backend::send_file(), for a socket that does not block. A file system that cannot say what is
/// in memory has no such way.
[[nodiscard]] std::int64_t send_resident(int socket, int file, std::uint64_t offset,
                                         std::size_t size_bytes) noexcept;
/// As backend::state_of_peer().
[[nodiscard]] peer_state peer_at(int fd) noexcept;
/// As backend::unacknowledged_bytes().
[[nodiscard]] std::size_t unacknowledged_at(int fd) noexcept;
/// Whether accept's `code` tells of a connection that broke before it was accepted, and of no
/// other.
[[nodiscard]] bool died_in_line(int code) noexcept;
/// accept4() for a loop: the descriptor, -EAGAIN if none stands in line, or another negated errno.
/// Connections that died in the line are passed over.
[[nodiscard]] int accept_connection(int listener) noexcept;
/// An eventfd for wake().
[[nodiscard]] result<int> open_wake_descriptor();
void signal_wake(int wake_fd) noexcept;
void drain_wake(int wake_fd) noexcept;

}  // namespace weft
