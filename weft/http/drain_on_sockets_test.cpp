// What a stopping server owes to clients that have sent before it looks: those in the kernel's
// line, and those whose bytes nobody has read.
#include <weft/http/server.hpp>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::each_backend;
using testing::plain_get;

/// Clients without a loop: what they do, they have done before the server's loop turns again.
class blocking_client {
 public:
  explicit blocking_client(const net::endpoint& where)
      : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    const timeval patience{.tv_sec = 20, .tv_usec = 0};  // a lost reply fails and does not hang
    EXPECT_EQ(::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    EXPECT_EQ(::connect(fd_, where.raw().get(), where.raw().size_bytes), 0);
  }
  blocking_client(blocking_client&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  blocking_client& operator=(blocking_client&&) = delete;
  ~blocking_client() {
    if (fd_ >= 0) ::close(fd_);
  }
  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  /// All that comes until the end, which is to be no reset.
  [[nodiscard]] std::string rest() const {
    std::string all;
    std::array<char, 4096> part;
    ssize_t got = 0;
    while ((got = ::recv(fd_, part.data(), part.size(), 0)) > 0)
      all.append(part.data(), static_cast<std::size_t>(got));
    EXPECT_EQ(got, 0) << "a reset, or nothing";
    return all;
  }

 private:
  int fd_;
};

using drain_on_sockets = each_backend;
INSTANTIATE_TEST_SUITE_P(on, drain_on_sockets,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(drain_on_sockets, answers_who_stands_in_line) {
  http().get("/", [] { return "in"; });
  run([&]() -> task<void> {
    std::vector<blocking_client> clients;
    for (int i = 0; i < 300; ++i) {  // more than one look at the line takes
      clients.emplace_back(http().local_endpoint());
      clients.back().send(plain_get);
    }
    EXPECT_EQ(http().connections(), 0U);
    EXPECT_TRUE((co_await http().stop()).has_value());
    for (const blocking_client& client : clients) {
      if (HasFailure()) break;
      const std::string reply = client.rest();
      EXPECT_TRUE(reply.starts_with("HTTP/1.1 200 OK\r\n") && reply.ends_with("\r\n\r\nin"))
          << reply;
      EXPECT_NE(reply.find("\r\nConnection: close\r\n"), std::string::npos) << reply;
    }
  });
}

TEST_P(drain_on_sockets, answers_what_has_come_to_idle_connections_and_was_not_read) {
  http().get("/", [] { return "answer"; });
  run([&]() -> task<void> {
    std::vector<blocking_client> clients;
    for (int i = 0; i < 50; ++i) {
      clients.emplace_back(http().local_endpoint());
      clients.back().send(plain_get);
    }
    while (http().requests() < clients.size()) co_await yield{loop()};
    for (int i = 0; i < 10; ++i) co_await yield{loop()};
    for (const blocking_client& client : clients) client.send(plain_get);
    EXPECT_TRUE((co_await http().stop()).has_value());
    for (const blocking_client& client : clients) {
      if (HasFailure()) break;
      const std::string replies = client.rest();
      EXPECT_NE(replies.find("answerHTTP/1.1 200 OK"), std::string::npos) << replies;
      EXPECT_TRUE(replies.ends_with("answer")) << replies;
    }
  });
}

}  // namespace
}  // namespace weft::http
