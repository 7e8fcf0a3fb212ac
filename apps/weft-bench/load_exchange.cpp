#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "load_loop.hpp"

namespace weft::bench {
namespace {

constexpr std::size_t connecting_limit = 256;  // so that no listener's backlog overflows

}  // namespace

void load_loop::open_those_down(std::uint64_t time) {
  // Those that fail at once are put back and wait for the next tick.
  std::vector<connection*> waiting;
  waiting.swap(down_);
  while (!waiting.empty() && connecting_ < connecting_limit) {
    connection* const peer = waiting.back();
    waiting.pop_back();
    open(*peer, time);
  }
  down_.insert(down_.end(), waiting.begin(), waiting.end());
}

void load_loop::open_one_down(std::uint64_t time) {
  if (down_.empty()) return;
  connection* const peer = down_.back();
  down_.pop_back();
  open(*peer, time);
}

void load_loop::open(connection& peer, std::uint64_t time) {
  const auto* const to = reinterpret_cast<const sockaddr*>(&plan_.to.bytes);
  const int on = 1;
  peer.framer.reset();
  peer.since = time;
  peer.state = link::connecting;
  ++connecting_;
  peer.fd = ::socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (peer.fd < 0) return fail(peer, &load_errors::connect, errno);
  ::setsockopt(peer.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(peer.fd, to, plan_.to.size) != 0 && errno != EINPROGRESS) {
    return fail(peer, &load_errors::connect, errno);
  }
  // Edge-triggered, so being watched for room to write costs nothing while there is room.
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &peer;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, peer.fd, &event) != 0) {
    fail(peer, &load_errors::connect, errno);
  }
}

void load_loop::on_event(connection& peer, std::uint32_t events) {
  if (peer.state == link::connecting) return on_connected(peer);
  if (peer.state == link::down) return;
  constexpr std::uint32_t ended = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  if (peer.state == link::standing) {
    if ((events & ended) != 0) fail(peer, &load_errors::closed);
    return;
  }
  if (peer.sent < plan_.request.size() && (events & EPOLLOUT) != 0) send_rest(peer);
  if (peer.state == link::waiting && (events & (EPOLLIN | ended)) != 0) {
    receive(peer, (events & ended) != 0);
  }
}

void load_loop::on_connected(connection& peer) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(peer.fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return fail(peer, &load_errors::connect, error);
  --connecting_;
  ++connects_;
  peer.state = link::standing;
  const std::uint64_t time = steady_ns();
  open_one_down(time);  // the next of those that waited for their turn to connect
  if (settled_) go_on(peer, time);
}

void load_loop::go_on(connection& peer, std::uint64_t time) {
  if (!pace_.is_fixed()) {
    begin_request(peer, time, time);
  } else if (pace_.next_due() <= time) {
    begin_request(peer, pace_.take(), time);
  } else {
    idle_.push_back(&peer);
  }
}

void load_loop::begin_request(connection& peer, std::uint64_t due, std::uint64_t time) {
  peer.state = link::waiting;
  ++waiting_;
  peer.due = due;
  peer.since = time;
  peer.sent = 0;
  peer.echoed = 0;
  send_rest(peer);
}

void load_loop::send_rest(connection& peer) {
  const std::string_view rest = std::string_view{plan_.request}.substr(peer.sent);
  const ssize_t sent = ::send(peer.fd, rest.data(), rest.size(), MSG_NOSIGNAL);
  if (sent >= 0) {
    peer.sent += static_cast<std::size_t>(sent);
  } else if (errno != EAGAIN && errno != EINTR) {
    fail(peer, &load_errors::reset, errno);
  }
}

// A receive that fills less than it could has emptied the socket (epoll(7)), so one is enough,
// unless the end of the stream came in the same event: no other will tell of it.
void load_loop::receive(connection& peer, bool to_the_end) {
  for (;;) {
    const ssize_t got = ::recv(peer.fd, input_.data(), input_.size(), 0);
    if (got < 0) {
      if (errno != EAGAIN && errno != EINTR) fail(peer, &load_errors::reset, errno);
      return;
    }
    if (got == 0) return on_end(peer);
    const std::string_view bytes{input_.data(), static_cast<std::size_t>(got)};
    counts_.bytes_received += bytes.size();
    if (plan_.expects == reply_kind::echo) {
      on_echo(peer, bytes);
    } else {
      on_http(peer, bytes);
    }
    if (peer.state != link::waiting) return;
    if (bytes.size() < input_.size() && !to_the_end) return;
  }
}

void load_loop::on_echo(connection& peer, std::string_view bytes) {
  const std::string_view expected = std::string_view{plan_.request}.substr(peer.echoed);
  if (bytes.size() > expected.size()) return fail(peer, &load_errors::unasked);
  if (!expected.starts_with(bytes)) return fail(peer, &load_errors::malformed);
  peer.echoed += bytes.size();
  if (peer.echoed == plan_.request.size()) complete(peer, true);
}

void load_loop::on_http(connection& peer, std::string_view bytes) {
  const auto [state, used] = peer.framer.feed(bytes);
  if (state == response_framer::progress::incomplete) return;
  if (state == response_framer::progress::malformed) return fail(peer, &load_errors::malformed);
  if (used != bytes.size()) return fail(peer, &load_errors::unasked);
  count_status(peer);
  complete(peer, peer.framer.keeps_alive());
}

void load_loop::complete(connection& peer, bool reuse) {
  const std::uint64_t time = steady_ns();
  if (counts(peer)) {
    ++counts_.requests;
    result_.latency.record(time - peer.due);
  }
  if (reuse && peer.sent == plan_.request.size()) {
    peer.state = link::standing;
    --waiting_;
    return go_on(peer, time);
  }
  close(peer);
  ++counts_.reconnects;
  open(peer, time);
}

void load_loop::on_end(connection& peer) {
  if (plan_.expects != reply_kind::echo && peer.framer.ends_at_close()) {
    count_status(peer);
    complete(peer, false);
  } else {
    fail(peer, &load_errors::closed);
  }
}

bool load_loop::counts(const connection& peer) const {
  return !pace_.is_fixed() || peer.due >= window_start_;
}

void load_loop::count_status(const connection& peer) {
  const int status = peer.framer.status();
  if (status < 300 || !counts(peer)) return;
  ++(status < 400 ? counts_.status_3xx : status < 500 ? counts_.status_4xx : counts_.status_5xx);
}

void load_loop::fail(connection& peer, std::uint64_t load_errors::* kind, int error) {
  ++(counts_.errors.*kind);
  if (result_.first_error == 0) result_.first_error = error;
  const bool was_up = peer.state == link::standing || peer.state == link::waiting;
  close(peer);
  if (!was_up || kind == &load_errors::timed_out) {
    down_.push_back(&peer);
    return;
  }
  ++counts_.reconnects;
  open(peer, steady_ns());
}

void load_loop::close(connection& peer) {
  if (peer.state == link::connecting) --connecting_;
  if (peer.state == link::waiting) --waiting_;
  if (peer.fd >= 0) ::close(peer.fd);
  peer.fd = -1;
  peer.state = link::down;
}

}  // namespace weft::bench
