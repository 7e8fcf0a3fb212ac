// Listening sockets that a service manager has opened for this program (systemd.socket(5)).
//
// Problem: a manager that holds the socket can start the program late, and make it anew without
// refusing anybody. Contract: the protocol of sd_listen_fds(3), read from the environment: the
// descriptors from 3 on, LISTEN_FDS of them, if LISTEN_PID is this process; LISTEN_FDNAMES names
// them (FileDescriptorName=). What is found is a stream socket that listens, does not block, and is
// closed in programs that this one starts; it stays open, and the manager's.
//
//   auto fd = net::activated_socket("systemd:web", net::activation_environment());
//   if (!fd) log::error(fd.error());  // says what is wrong, and what there is instead
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace weft::net {

/// What the manager says; empty: nothing.
struct activation_variables {
  std::string pid;    // LISTEN_PID
  std::string count;  // LISTEN_FDS
  std::string names;  // LISTEN_FDNAMES
};

[[nodiscard]] activation_variables activation_environment();

/// Whether `text` asks for such a socket: "systemd:" for the only one, or "systemd:NAME".
[[nodiscard]] bool is_activated(std::string_view text) noexcept;

/// The descriptor, or why there is none: one sentence with what to do.
[[nodiscard]] std::expected<int, std::string> activated_socket(std::string_view text,
                                                               const activation_variables& said);

}  // namespace weft::net
