// The system calls both kernel backends make for datagram sockets.
//
// Contract: sockets are made non-blocking and close-on-exec; a failed step closes what was made and
// names its errno.
//
//   const received_datagrams got = receive_datagrams(fd, room, pool);
#pragma once

#include <span>

#include <weft/base/result.hpp>
#include <weft/loop/backend.hpp>

namespace weft {

[[nodiscard]] result<int> open_datagram_socket(int family, const datagram_options& options);

struct received_datagrams {
  int result = 0;        // how many, or a negated errno; -ENOBUFS: the pool has no slot
  bool drained = false;  // nothing is left in the socket
};

/// Takes what has come, at most 16 datagrams at once, into slots of `pool`, by one system call. A
/// slot that the first of `room` already has is used.
[[nodiscard]] received_datagrams receive_datagrams(int fd, std::span<datagram> room,
                                                   buffer_pool& pool) noexcept;

/// Sends as many as the socket takes now, by one system call: how many, or a negated errno.
[[nodiscard]] int send_datagrams(int fd, std::span<mmsghdr> messages) noexcept;

}  // namespace weft
