#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "load_loop.hpp"

namespace weft::bench {
namespace {

constexpr std::size_t connecting_limit = 256;  // so that no listener's backlog overflows

ssize_t send_all(int fd, std::span<iovec> pieces) {
  if (pieces.size() == 1)  // as nearly always, and the cheaper call
    return ::send(fd, pieces.front().iov_base, pieces.front().iov_len, MSG_NOSIGNAL);
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  return ::sendmsg(fd, &message, MSG_NOSIGNAL);
}

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
  peer.speaks->restart();
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
  constexpr std::uint32_t ended = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  if (peer.state == link::connecting)
    on_connected(peer);
  else if (peer.state >= link::opening && (events & EPOLLOUT) != 0)
    send_rest(peer);
  // Bytes, and the end, may have come together with the connection: no other event tells of them.
  if (peer.state >= link::securing && (events & (EPOLLIN | ended)) != 0)
    receive(peer, (events & ended) != 0);
}

void load_loop::on_connected(connection& peer) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(peer.fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return fail(peer, &load_errors::connect, error);
  if (!plan_.tls) return open_conversation(peer);
  peer.tls = std::make_unique<tls_link>(*plan_.tls);
  peer.state = link::securing;
  shake_hands(peer);
}

void load_loop::shake_hands(connection& peer) {
  const tls_link::progress got = peer.tls->shake_hands();
  if (got == tls_link::progress::failed) {
    if (result_.first_error.empty()) result_.first_error = peer.tls->failure();
    return fail(peer, &load_errors::connect);
  }
  send_output(peer);
  if (got == tls_link::progress::done && peer.state == link::securing) open_conversation(peer);
}

void load_loop::open_conversation(connection& peer) {
  if (peer.speaks->is_open()) return stand(peer);
  peer.state = link::opening;
  send_rest(peer);
}

void load_loop::stand(connection& peer) {
  --connecting_;
  ++connects_;
  peer.state = link::up;
  const std::uint64_t time = steady_ns();
  open_one_down(time);  // the next of those that waited for their turn to connect
  if (settled_) go_on(peer, time);
}

void load_loop::go_on(connection& peer, std::uint64_t time) {
  while (peer.speaks->has_room()) {
    if (!pace_.is_fixed()) {
      add_request(peer, time, time);
    } else if (pace_.next_due() <= time) {
      add_request(peer, pace_.take(), time);
    } else {
      add_idle(peer);
      break;
    }
  }
  send_rest(peer);
}

void load_loop::add_idle(connection& peer) {
  if (peer.is_idle) return;
  peer.is_idle = true;
  idle_.push_back(&peer);
}

void load_loop::add_request(connection& peer, std::uint64_t due, std::uint64_t time) {
  peer.speaks->ask({.to = &plan_.requests[next_request_], .due = due, .since = time});
  if (++next_request_ == plan_.requests.size()) next_request_ = 0;
  ++owed_;
}

void load_loop::send_rest(connection& peer) {
  if (peer.tls == nullptr) return send_pieces(peer);
  encrypt_pieces(peer);
  send_output(peer);
}

void load_loop::send_pieces(connection& peer) {
  std::array<iovec, 64> pieces;
  while (const std::size_t count = peer.speaks->unsent(pieces)) {
    const ssize_t sent = send_all(peer.fd, std::span{pieces}.first(count));
    if (sent < 0) {
      if (errno != EAGAIN && errno != EINTR) fail(peer, &load_errors::reset, errno);
      return;
    }
    peer.speaks->advance(static_cast<std::size_t>(sent));
  }
}

void load_loop::encrypt_pieces(connection& peer) {
  std::array<iovec, 64> pieces;
  while (const std::size_t count = peer.speaks->unsent(pieces)) {
    for (const iovec& piece : std::span{pieces}.first(count)) {
      peer.tls->encrypt({static_cast<const char*>(piece.iov_base), piece.iov_len});
      peer.speaks->advance(piece.iov_len);
    }
  }
}

void load_loop::send_output(connection& peer) {
  const std::string_view output = peer.tls->output();
  if (output.empty()) return;
  const ssize_t sent = ::send(peer.fd, output.data(), output.size(), MSG_NOSIGNAL);
  if (sent >= 0) {
    peer.tls->drop_output(static_cast<std::size_t>(sent));
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
    if (peer.tls != nullptr) {
      decrypt(peer, bytes);
    } else {
      on_bytes(peer, bytes);
    }
    if (peer.state < link::securing) return;
    if (bytes.size() < input_.size() && !to_the_end) return;
  }
}

void load_loop::decrypt(connection& peer, std::string_view encrypted) {
  peer.tls->take(encrypted);
  if (peer.state == link::securing) return shake_hands(peer);
  while (peer.state >= link::opening) {
    const auto got = peer.tls->decrypt(plain_);
    if (!got) return on_end(peer);
    if (*got == 0) return;
    on_bytes(peer, {plain_.data(), *got});
  }
}

void load_loop::on_bytes(connection& peer, std::string_view bytes) {
  replied_ = 0;
  follow(peer, peer.speaks->take(bytes));
}

void load_loop::on_end(connection& peer) {
  if (peer.state < link::up) return fail(peer, &load_errors::connect, ECONNRESET);
  replied_ = 0;
  follow(peer, peer.speaks->end());
}

void load_loop::follow(connection& peer, conversation::verdict verdict) {
  switch (verdict) {
    case conversation::verdict::going_on:
      if (peer.state == link::opening && peer.speaks->is_open()) return stand(peer);
      if (replied_ != 0) return go_on(peer, replied_);
      return send_rest(peer);  // what the protocol has to say itself
    case conversation::verdict::last_reply: return open_another(peer);
    case conversation::verdict::refused:
      if (result_.first_error.empty()) result_.first_error = peer.speaks->failure();
      return fail(peer, &load_errors::connect);
    case conversation::verdict::malformed: return fail(peer, &load_errors::malformed);
    case conversation::verdict::unasked: return fail(peer, &load_errors::unasked);
    case conversation::verdict::closed: return fail(peer, &load_errors::closed);
  }
}

void load_loop::on_reply(const owed_reply& reply, int status) {
  if (replied_ == 0) replied_ = steady_ns();
  --owed_;
  if (!counts(reply)) {
    ++result_.requests_with_warm_up;  // due in the warm-up, answered after it
    return;
  }
  ++counts_.requests;
  result_.latency.record(replied_ - reply.due);
  count_status(status);
}

void load_loop::on_failure(const owed_reply& reply) {
  if (replied_ == 0) replied_ = steady_ns();  // there is room for another request
  --owed_;
  if (counts(reply)) ++counts_.errors.reset;
}

bool load_loop::counts(const owed_reply& reply) const {
  return !pace_.is_fixed() || reply.due >= window_start_;
}

void load_loop::count_status(int status) {
  if (status < 300) return;
  ++(status < 400 ? counts_.status_3xx : status < 500 ? counts_.status_4xx : counts_.status_5xx);
}

void load_loop::fail(connection& peer, std::uint64_t load_errors::* kind, int error) {
  const std::size_t lost = peer.speaks->owed();
  counts_.errors.*kind += std::max<std::size_t>(lost, 1);
  if (result_.first_error.empty() && error != 0) result_.first_error = std::strerror(error);
  const bool was_up = peer.state == link::up;
  close(peer);
  owed_ -= lost;
  peer.speaks->forget();
  if (!was_up || kind == &load_errors::timed_out) {
    down_.push_back(&peer);
    return;
  }
  ++counts_.reconnects;
  open(peer, steady_ns());
}

void load_loop::open_another(connection& peer) {
  close(peer);
  ++counts_.reconnects;
  open(peer, steady_ns());
}

void load_loop::close(connection& peer) {
  if (peer.state != link::up && peer.state != link::down) --connecting_;
  peer.tls.reset();
  if (peer.fd >= 0) ::close(peer.fd);
  peer.fd = -1;
  peer.state = link::down;
}

}  // namespace weft::bench
