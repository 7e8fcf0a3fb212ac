// The floor of what a request costs on epoll: one receive and one send a request, one wait a turn.
//
// Level-triggered on purpose: with one receive a readiness it needs neither a second receive to
// find the end nor a list of half-drained sockets. A connection owns memory only while a request
// or a reply is cut in two.
//
//   epoll_server 9100 http      answers POST /ping {"sequence": N}, and GET with a greeting
//   epoll_server 9100 echo      gives back what it gets
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "listen.hpp"
#include "ping.hpp"

namespace {

class epoll_server {
 public:
  epoll_server(int listener, ceiling::protocol speaks)
      : listener_(listener), epoll_(::epoll_create1(EPOLL_CLOEXEC)), speaks_(speaks) {
    watch(EPOLL_CTL_ADD, listener_, EPOLLIN);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 1024> events;
    for (;;) {
      const int ready = ::epoll_wait(epoll_, events.data(), events.size(), -1);
      for (int i = 0; i < ready; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        if (event.data.fd == listener_) {
          accept_all();
        } else if ((event.events & EPOLLOUT) != 0) {
          on_writable(event.data.fd);
        } else {
          on_readable(event.data.fd);
        }
      }
    }
  }

 private:
  struct connection {
    std::string unread;  // the start of a request whose rest has not come yet
    std::string unsent;  // while not empty nothing more is read: the peer must take this first
  };

  void accept_all() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      if (static_cast<std::size_t>(fd) >= connections_.size()) {
        connections_.resize(static_cast<std::size_t>(fd) * 2);
      }
      watch(EPOLL_CTL_ADD, fd, EPOLLIN);
    }
  }

  void on_readable(int fd) {
    std::string& unread = connections_[static_cast<std::size_t>(fd)].unread;
    const std::size_t before = unread.size();
    if (before != 0) std::memcpy(input_.data(), unread.data(), before);
    const ssize_t got = ::recv(fd, input_.data() + before, input_.size() - before, 0);
    if (got <= 0) {
      if (got == 0 || (errno != EAGAIN && errno != EINTR)) close(fd);
      return;
    }
    const std::string_view input{input_.data(), before + static_cast<std::size_t>(got)};
    if (speaks_ == ceiling::protocol::echo) {
      send(fd, input);
    } else {
      serve(fd, input);
    }
  }

  void serve(int fd, std::string_view input) {
    replies_->clear();
    ceiling::outcome request{};
    for (;;) {
      request = ceiling::serve_one(input, *replies_);
      if (request.what != ceiling::verdict::complete) break;
      input.remove_prefix(request.used);
      if (input.empty()) break;
    }
    if (request.what == ceiling::verdict::malformed) return close(fd);
    connections_[static_cast<std::size_t>(fd)].unread.assign(input);
    if (!replies_->empty()) send(fd, replies_->view());
  }

  void send(int fd, std::string_view bytes) {
    ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(bytes.size())) return;
    if (sent < 0 && errno != EAGAIN) return close(fd);
    if (sent < 0) sent = 0;
    connections_[static_cast<std::size_t>(fd)].unsent =
        bytes.substr(static_cast<std::size_t>(sent));
    watch(EPOLL_CTL_MOD, fd, EPOLLOUT);
  }

  void on_writable(int fd) {
    std::string& unsent = connections_[static_cast<std::size_t>(fd)].unsent;
    const ssize_t sent = ::send(fd, unsent.data(), unsent.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno != EAGAIN) close(fd);
      return;
    }
    unsent.erase(0, static_cast<std::size_t>(sent));
    if (unsent.empty()) watch(EPOLL_CTL_MOD, fd, EPOLLIN);
  }

  void close(int fd) {
    connections_[static_cast<std::size_t>(fd)] = {};
    ::close(fd);
  }

  void watch(int operation, int fd, std::uint32_t what) const {
    epoll_event event{};
    event.events = what;
    event.data.fd = fd;
    ::epoll_ctl(epoll_, operation, fd, &event);
  }

  int listener_;
  int epoll_;
  ceiling::protocol speaks_;
  std::vector<connection> connections_;  // by descriptor
  std::array<char, ceiling::input_limit> input_;
  std::unique_ptr<ceiling::reply_buffer> replies_ = std::make_unique<ceiling::reply_buffer>();
};

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = ceiling::parse(argc, argv);
  if (!arguments) return 2;
  const int listener = ceiling::listen_on_loopback(arguments->port);
  if (listener < 0) return 1;
  epoll_server{listener, arguments->speaks}.run();
}
