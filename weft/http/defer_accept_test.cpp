// That a server's listener is deferred if its options say so, by what the kernel tells of it.
#include <weft/http/server.hpp>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

int socket_option(int fd, int level, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, level, option, &value, &size) == 0 ? value : -1;
}

/// Of this process, on that port; -1: there is none.
int listener_on(std::uint16_t port) {
  constexpr int looked_at = 1024;
  for (int fd = 0; fd < looked_at; ++fd) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (socket_option(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1 &&
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
        ntohs(address.sin_port) == port)
      return fd;
  }
  return -1;
}

class defer_accept_test : public testing::server_world,
                          public ::testing::WithParamInterface<backend_kind> {};
INSTANTIATE_TEST_SUITE_P(on, defer_accept_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         testing::backend_name);

TEST_P(defer_accept_test, is_off_unless_asked_for) {
  for (const bool wanted : {false, true}) {
    serve(GetParam(), server_options{.defer_accept = wanted, .drain_idle = duration::zero()});
    http().get("/", [] { return "hello"; });
    run([&]() -> task<void> {
      const int listener = listener_on(http().local_endpoint().port());
      EXPECT_EQ(socket_option(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT) > 0, wanted);
      auto client = co_await world().connect();
      EXPECT_EQ((co_await client.ask("GET", "/")).body, "hello");
    });
  }
}

}  // namespace
}  // namespace weft::http
