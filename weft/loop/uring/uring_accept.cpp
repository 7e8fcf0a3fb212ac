// Listeners on io_uring: a multishot accept fills a queue, from which accepts are answered.

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include <weft/loop/socket_calls.hpp>
#include <weft/loop/uring/uring_backend.hpp>

namespace weft {
namespace {

/// Accepted connections that may wait for the listener's owner.
constexpr std::size_t backlog_limit = 256;

}  // namespace

result<descriptor*> uring_backend::listen(const raw_address& address,
                                          const listen_options& options) {
  auto line = std::make_unique<std::deque<int>>();
  const auto added = add(open_listener(address, options));
  if (added) (*added)->accepted = std::move(line);
  return added;
}

bool uring_backend::start_accept(accept_operation& op) noexcept {
  uring_descriptor& d = socket_of(op);
  if (take_connection(d, op)) return true;
  if (!op.waits && !d.armed) return accept_now(d, op);
  d.reader = &op;
  if (!op.waits)
    disarm(d);  // what it has taken comes before its end
  else if (!d.armed)
    arm(d);
  return false;
}

/// Past the ring, which is to have nothing to do with the listener now. True: answered.
bool uring_backend::accept_now(uring_descriptor& d, accept_operation& op) noexcept {
  give_connection(accept_connection(d.fd), op);
  return true;
}

/// `fd`: or a negated errno.
void uring_backend::give_connection(int fd, accept_operation& op) noexcept {
  op.accepted = fd >= 0 ? keep(fd) : nullptr;
  op.result = fd >= 0 && op.accepted == nullptr ? -ENOMEM : std::min(fd, 0);
}

bool uring_backend::take_connection(uring_descriptor& d, accept_operation& op) noexcept {
  if (!d.accepted->empty()) {
    const int fd = d.accepted->front();
    d.accepted->pop_front();
    give_connection(fd, op);
    return true;
  }
  if (d.failure == 0) return false;
  op.result = -std::exchange(d.failure, std::int16_t{0});
  return true;
}

bool uring_backend::serve_acceptor(uring_descriptor& d, accept_operation& op) noexcept {
  return take_connection(d, op) || (!op.waits && !d.armed && accept_now(d, op));
}

void uring_backend::on_accept(uring_descriptor& d, const io_uring_cqe& cqe) noexcept {
  d.armed = (cqe.flags & IORING_CQE_F_MORE) != 0;
  if (cqe.res >= 0) {
    try {
      d.accepted->push_back(cqe.res);
    } catch (const std::bad_alloc&) {
      ::close(cqe.res);
      d.failure = ENOMEM;  // whoever accepts pauses
    }
    if (d.accepted->size() >= backlog_limit) disarm(d);
  } else if (cqe.res != -ECANCELED && cqe.res != -EINTR && !died_in_line(-cqe.res)) {
    d.failure = static_cast<std::int16_t>(-cqe.res);
  }
  serve_reader(d);
}

}  // namespace weft
