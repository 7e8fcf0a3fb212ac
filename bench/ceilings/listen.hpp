// What both ceilings start with: the command line and a listening socket on loopback.
//
//   const auto arguments = ceiling::parse(argc, argv);
//   if (!arguments) return 2;
//   const int listener = ceiling::listen_on_loopback(arguments->port);
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>

namespace ceiling {

enum class protocol : std::uint8_t { http, echo };

struct arguments {
  std::uint16_t port;
  protocol speaks;
};

// Prints the usage and gives nothing when the command line is wrong.
inline std::optional<arguments> parse(int argc, char** argv) {
  if (argc == 3) {
    const std::string_view port_text = argv[1];
    const std::string_view protocol_text = argv[2];
    std::uint16_t port = 0;
    const auto read = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
    const bool whole = read.ec == std::errc{} && read.ptr == port_text.data() + port_text.size();
    if (whole && port != 0) {
      if (protocol_text == "http") return arguments{port, protocol::http};
      if (protocol_text == "echo") return arguments{port, protocol::echo};
    }
  }
  std::fprintf(stderr, "usage: %s PORT http|echo\n", argv[0]);
  return std::nullopt;
}

// A non-blocking listener, or -1 with the reason on stderr. Accepted sockets inherit TCP_NODELAY
// (tcp(7)), which saves a system call for each connection.
inline int listen_on_loopback(std::uint16_t port) {
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0 || ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
      ::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 4096) != 0) {
    std::fprintf(stderr, "cannot listen on 127.0.0.1:%u: ", port);
    std::perror(nullptr);
    return -1;
  }
  return listener;
}

}  // namespace ceiling
