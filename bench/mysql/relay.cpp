// What a process between a client and a database server costs, whatever it does: takes the requests
// that weftd takes, reads none of what they say, looks up as many rows as a plain client does, and
// answers with as many bytes. What bench/mysql/compare takes weftd's delay apart by.
//
//   relay PORT USER PASSWORD CONNECTIONS KEYS ROWS REPLY_BYTES
//
// A thread for each of its clients, of which there are CONNECTIONS at most. Says on stdout which
// port of 127.0.0.1 it listens on.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "batch_client.hpp"

namespace {

/// Takes the next request off `buffer`, whose body is as long as its head says; false: there is
/// none any more.
bool take_request(int fd, std::string& buffer) {
  constexpr std::string_view length_field = "content-length: ";
  for (;;) {
    const std::size_t head = buffer.find("\r\n\r\n");
    if (head != std::string::npos) {
      std::string fields = buffer.substr(0, head);
      for (char& c : fields) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      const std::size_t field = fields.find(length_field);
      if (field == std::string::npos) give_up("a request has no length", fields.c_str());
      const std::size_t body = std::strtoul(&fields[field + length_field.size()], nullptr, 10);
      if (buffer.size() >= head + 4 + body) {
        buffer.erase(0, head + 4 + body);
        return true;
      }
    }
    char bytes[16 * 1024];
    const ssize_t came = ::recv(fd, bytes, sizeof bytes, 0);
    if (came <= 0) return false;
    buffer.append(bytes, static_cast<std::size_t>(came));
  }
}

void serve(int fd, batch_client& asks, std::string_view reply) {
  const int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  for (std::string buffer; take_request(fd, buffer);) {
    asks.look_up();
    if (::send(fd, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) break;
  }
  ::close(fd);
}

int listen_anywhere() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  auto* const address = reinterpret_cast<sockaddr*>(&where);
  if (::bind(fd, address, size) != 0 || ::listen(fd, SOMAXCONN) != 0 ||
      ::getsockname(fd, address, &size) != 0)
    give_up("cannot listen", "on a port of 127.0.0.1");
  std::printf("%d\n", ntohs(where.sin_port));
  std::fflush(stdout);
  return fd;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int arguments = 8;
  if (argc != arguments) {
    std::fputs("usage: relay PORT USER PASSWORD CONNECTIONS KEYS ROWS REPLY_BYTES\n", stderr);
    return 2;
  }
  const auto number = [argv](int at) { return static_cast<unsigned>(std::atoi(argv[at])); };
  const batch_source from{.port = number(1),
                          .user = argv[2],
                          .password = argv[3],
                          .keys = number(5),
                          .rows = number(6)};
  const std::string reply = "HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(number(7)) +
                            "\r\n\r\n" + std::string(number(7), 'x');
  std::vector<std::unique_ptr<batch_client>> free;
  free.reserve(number(4));
  for (unsigned i = 0; i < number(4); ++i) free.push_back(std::make_unique<batch_client>(from, i));
  const int listener = listen_anywhere();
  std::vector<std::thread> threads(free.size());
  for (std::size_t next = 0;; next = (next + 1) % free.size()) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) give_up("cannot accept", "a client");
    if (threads[next].joinable()) threads[next].join();  // whose client has gone
    threads[next] = std::thread{serve, fd, std::ref(*free[next]), std::string_view{reply}};
  }
}
