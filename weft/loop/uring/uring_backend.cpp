#include <weft/loop/uring/uring_backend.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/base/intrusive_list.hpp>
#include <weft/base/slab.hpp>
#include <weft/loop/file_operation.hpp>
#include <weft/loop/socket_calls.hpp>
#include <weft/loop/uring/buffer_ring.hpp>
#include <weft/loop/uring/ring.hpp>
#include <weft/loop/uring/submissions.hpp>
#include <weft/loop/uring/uring_descriptor.hpp>
#include <weft/loop/uring/user_data.hpp>

namespace weft {
namespace {

/// Buffers a connection may have waiting before it is told to stop.
constexpr unsigned inbox_limit = 4;

}  // namespace

result<void> uring_backend::open(std::string& why) {
  if (auto opened = ring_.open(why); !opened) return opened;
  if (auto opened = buffers_.open(ring_.raw(), why); !opened) return opened;
  const auto wake = open_wake_descriptor();
  if (!wake) {
    why = "eventfd2: " + wake.error().message();
    return fail(wake.error());
  }
  wake_ = *wake;
  watch_wake();
  buffers_.top_up();  // so that the first turn allocates nothing
  why = ring_.mode();
  return {};
}

uring_backend::~uring_backend() {
  while (uring_descriptor* d = open_.front()) {
    if (!d->closing) begin_close(*d);
    while (open_.front() == d) enter(time_point::max());
  }
  buffers_.close(ring_.raw());
  if (wake_ >= 0) ::close(wake_);
}

/// nullptr: there is no memory for it, and it is closed.
uring_descriptor* uring_backend::keep(int fd) noexcept {
  try {
    uring_descriptor& d = *sockets_.create();
    d.fd = fd;
    open_.push_back(d);
    return &d;
  } catch (const std::bad_alloc&) {
    ::close(fd);
    return nullptr;
  }
}

result<uring_descriptor*> uring_backend::add(result<int> fd) noexcept {
  if (!fd) return fail(fd.error());
  if (uring_descriptor* const added = keep(*fd)) return added;
  return fail(error{errc::exhausted, ENOMEM});
}

result<descriptor*> uring_backend::open_stream(int family) {
  return add(open_stream_socket(family));
}

std::unique_ptr<loose_socket> uring_backend::loosen(descriptor& socket) {
  auto& d = static_cast<uring_descriptor&>(socket);
  WEFT_DEBUG_ASSERT(!d.armed && d.waiting == 0, "nothing was asked of what is loosened");
  auto loose = std::make_unique<loose_file>(d.fd);
  d.all.unlink();
  sockets_.destroy(&d);
  return loose;
}

void uring_backend::answer(operation& op, int result) noexcept {
  op.result = result;
  if (std::exchange(op.in_kernel, false)) --in_kernel_;
  context_.ready.push(op, priority::normal);
}

/// What start() says of it.
bool uring_backend::list(listed_operation& op) noexcept {
  listed_.push_back(op);
  ++in_kernel_;
  return false;
}

void uring_backend::on_listed(listed_operation& op, int result) noexcept {
  listed_.erase(op);
  answer(op, op.kind == operation_kind::send_datagrams ? std::min(result, 0) : result);
}

bool uring_backend::start(operation& op) noexcept {
  switch (op.kind) {
    case operation_kind::receive: return start_receive(static_cast<receive_operation&>(op));
    case operation_kind::accept: return start_accept(static_cast<accept_operation&>(op));
    case operation_kind::receive_datagrams:
      return start_receive_datagrams(static_cast<receive_datagrams_operation&>(op));
    case operation_kind::send_datagrams:
      if (start_send_datagrams(static_cast<send_datagrams_operation&>(op))) return true;
      break;
    case operation_kind::send:
      submit(ring_, static_cast<send_operation&>(op));
      ++in_kernel_;
      return false;
    case operation_kind::connect: submit(ring_, static_cast<connect_operation&>(op)); break;
    case operation_kind::readable:
    case operation_kind::writable: submit(ring_, static_cast<poll_operation&>(op)); break;
    case operation_kind::file: submit(ring_, static_cast<file_operation&>(op)); break;
    case operation_kind::close:
      begin_close(socket_of(op));
      socket_of(op).reader = &op;
      return false;
  }
  return list(static_cast<listed_operation&>(op));
}

bool uring_backend::start_receive(receive_operation& op) noexcept {
  uring_descriptor& d = socket_of(op);
  if (take_buffer(d, op)) return true;
  WEFT_DEBUG_ASSERT(d.reader == nullptr, "one operation a direction at a time");
  d.reader = &op;
  if (!d.armed && !d.starved.is_linked()) arm(d);
  return false;
}

bool uring_backend::receive_now(receive_operation& op) noexcept {
  return take_buffer(socket_of(op), op);
}

/// True: `op` has its bytes, or the end of the stream.
bool uring_backend::take_buffer(uring_descriptor& d, receive_operation& op) noexcept {
  op.buffer = inboxes_.pop(d);
  if (op.buffer) {
    op.result = static_cast<std::int32_t>(op.buffer.size());
    return true;
  }
  if (!d.ended) return false;
  op.result = -d.failure;
  return true;
}

void uring_backend::arm(uring_descriptor& d) noexcept {
  if (d.accepted != nullptr) {
    io_uring_sqe& entry = ring_.prepare();
    io_uring_prep_multishot_accept(&entry, d.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    io_uring_sqe_set_data64(&entry, data_for(&d, tag::accept));
  } else if (d.datagrams) {
    prepare_receive_datagrams(d);
  } else {
    io_uring_sqe& entry = ring_.prepare();
    io_uring_prep_recv_multishot(&entry, d.fd, nullptr, 0, 0);
    entry.flags |= IOSQE_BUFFER_SELECT;
    entry.buf_group = buffer_ring::group;
    io_uring_sqe_set_data64(&entry, data_for(&d, tag::receive));
  }
  d.armed = true;
  d.stopping = false;
}

void uring_backend::disarm(uring_descriptor& d) noexcept {
  if (!d.armed || d.stopping) return;
  d.stopping = true;
  io_uring_sqe& entry = ring_.prepare();
  const tag armed = d.accepted != nullptr ? tag::accept
                    : d.datagrams         ? tag::datagram
                                          : tag::receive;
  io_uring_prep_cancel64(&entry, data_for(&d, armed), 0);
  io_uring_sqe_set_data64(&entry, data_for(nullptr, tag::ignored));
}

void uring_backend::wait_for_buffer(uring_descriptor& d) noexcept { starved_.push(d); }

void uring_backend::cancel(operation& op) noexcept {
  op.cancelled = true;
  if (op.in_kernel) {
    io_uring_sqe& entry = ring_.prepare();
    const bool sends = op.kind == operation_kind::send;
    io_uring_prep_cancel64(&entry, data_for(&op, sends ? tag::send : tag::listed), 0);
    io_uring_sqe_set_data64(&entry, data_for(nullptr, tag::ignored));
    return;
  }
  if (op.kind == operation_kind::close) return;  // it cannot come earlier
  if (op.target == nullptr || socket_of(op).reader != &op) return;
  // What arrives from now on waits in the inbox for the next reader: nothing is lost.
  socket_of(op).reader = nullptr;
  answer(op, -ECANCELED);
}

void uring_backend::begin_close(uring_descriptor& d) noexcept {
  WEFT_DEBUG_ASSERT(d.reader == nullptr && !d.closing, "close follows the last answer, once");
  d.closing = true;
  ++closing_;
  starved_.forget(d);
  if (d.armed)
    disarm(d);
  else
    submit_close(d);
}

void uring_backend::submit_close(uring_descriptor& d) noexcept {
  inboxes_.drop(d);
  io_uring_sqe& entry = ring_.prepare();
  io_uring_prep_close(&entry, d.fd);
  io_uring_sqe_set_data64(&entry, data_for(&d, tag::close));
}

void uring_backend::finish_close(uring_descriptor& d) noexcept {
  if (d.accepted != nullptr)
    for (const int fd : *d.accepted) ::close(fd);
  if (d.reader != nullptr) answer(*d.reader, 0);
  d.all.unlink();
  sockets_.destroy(&d);
  --closing_;
}

/// Gives a waiting reader what has come, or sees to it that something will.
void uring_backend::serve_reader(uring_descriptor& d) noexcept {
  if (d.closing) {
    if (!d.armed) submit_close(d);
    return;
  }
  if (d.reader == nullptr) return;
  operation& op = *d.reader;
  const bool served = d.accepted != nullptr ? serve_acceptor(d, static_cast<accept_operation&>(op))
                                            : take_buffer(d, static_cast<receive_operation&>(op));
  if (served) {
    d.reader = nullptr;
    context_.ready.push(op, priority::normal);
  } else if (!d.armed && !d.starved.is_linked()) {
    arm(d);
  }
}

void uring_backend::on_receive(uring_descriptor& d, const io_uring_cqe& cqe) noexcept {
  d.armed = (cqe.flags & IORING_CQE_F_MORE) != 0;
  if ((cqe.flags & IORING_CQE_F_BUFFER) != 0) {
    const std::uint32_t slot = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
    buffers_.took_back(slot);
    if (cqe.res > 0)
      inboxes_.push(d, slot, static_cast<std::uint32_t>(cqe.res));
    else
      context_.buffers.release(slot);
    if (d.waiting >= inbox_limit) disarm(d);
  }
  if (cqe.res == 0) {
    d.ended = true;
  } else if (cqe.res == -ENOBUFS) {
    if (!d.closing) wait_for_buffer(d);
  } else if (cqe.res < 0 && cqe.res != -ECANCELED && cqe.res != -EINTR) {
    d.ended = true;
    d.failure = static_cast<std::int16_t>(-cqe.res);
  }
  serve_reader(d);
}

void uring_backend::watch_wake() noexcept {
  io_uring_sqe& entry = ring_.prepare();
  io_uring_prep_poll_multishot(&entry, wake_, POLLIN);
  io_uring_sqe_set_data64(&entry, data_for(nullptr, tag::wake));
}

void uring_backend::on_wake(const io_uring_cqe& cqe) noexcept {
  drain_wake(wake_);
  if ((cqe.flags & IORING_CQE_F_MORE) == 0) watch_wake();
}

void uring_backend::on_answer(const io_uring_cqe& cqe) noexcept {
  switch (tag_of(cqe.user_data)) {
    case tag::send: answer(object_of<operation>(cqe.user_data), cqe.res); break;
    case tag::receive: on_receive(object_of<uring_descriptor>(cqe.user_data), cqe); break;
    case tag::accept: on_accept(object_of<uring_descriptor>(cqe.user_data), cqe); break;
    case tag::datagram: on_datagram(object_of<uring_descriptor>(cqe.user_data), cqe); break;
    case tag::listed: on_listed(object_of<listed_operation>(cqe.user_data), cqe.res); break;
    case tag::close: finish_close(object_of<uring_descriptor>(cqe.user_data)); break;
    case tag::wake: on_wake(cqe); break;
    case tag::ignored: break;
  }
}

void uring_backend::reap() noexcept {
  ring_.for_each([this](const io_uring_cqe& cqe) { on_answer(cqe); });
  if (!fed_.empty()) serve_datagram_readers();
}

/// Bytes are in the socket, or the kernel has moved them into an answer. It may do so at any time:
/// hence the socket first.
bool uring_backend::has_input(descriptor& socket) noexcept {
  if (bytes_wait(socket.fd)) return true;
  reap();
  return static_cast<uring_descriptor&>(socket).waiting != 0;
}

void uring_backend::enter(time_point until) noexcept {
  buffers_.top_up();
  // As many as there are buffers: more would only come back empty-handed, and lose their place in
  // the line.
  unsigned left = buffers_.lent();
  starved_.feed([&] { return left > 0; },
                [&](uring_descriptor& d, bool) {
                  if (d.reader == nullptr || d.armed) return;
                  arm(d);
                  --left;
                });
  ring_.enter(until);
  reap();
}

result<std::unique_ptr<backend>> make_uring_backend(backend_context context, std::string& why) {
  auto made = std::make_unique<uring_backend>(context);
  if (auto opened = made->open(why); !opened) return fail(opened.error());
  return made;
}

}  // namespace weft
