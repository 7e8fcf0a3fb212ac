#include <weft/loop/uring/submissions.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <weft/loop/uring/user_data.hpp>

namespace weft {
namespace {

/// Preparing an entry clears its user data in this liburing, so that the tag is set last.
void name(io_uring_sqe& entry, operation& op, tag as) noexcept {
  io_uring_sqe_set_data64(&entry, data_for(&op, as));
  op.in_kernel = true;
}

}  // namespace

void submit(ring& to, send_operation& op) noexcept {
  io_uring_sqe& entry = to.prepare();
  if (op.message != nullptr)
    io_uring_prep_sendmsg(&entry, op.target->fd, op.message, MSG_NOSIGNAL);
  else
    io_uring_prep_send(&entry, op.target->fd, op.data, op.size, MSG_NOSIGNAL);
  name(entry, op, tag::send);
}

void submit(ring& to, connect_operation& op) noexcept {
  io_uring_sqe& entry = to.prepare();
  io_uring_prep_connect(&entry, op.target->fd, op.address, op.address_bytes);
  name(entry, op, tag::listed);
}

void submit(ring& to, poll_operation& op) noexcept {
  io_uring_sqe& entry = to.prepare();
  const bool reads = op.kind == operation_kind::readable;
  io_uring_prep_poll_add(&entry, op.fd, reads ? POLLIN | POLLRDHUP : POLLOUT);
  name(entry, op, tag::listed);
}

void submit(ring& to, file_operation& op) noexcept {
  io_uring_sqe& entry = to.prepare();
  const auto size = static_cast<unsigned>(op.size);
  switch (op.action) {
    case file_action::open:
      io_uring_prep_openat(&entry, AT_FDCWD, op.path, op.flags, op.mode);
      break;
    case file_action::read: io_uring_prep_read(&entry, op.fd, op.data, size, op.offset); break;
    case file_action::write: io_uring_prep_write(&entry, op.fd, op.data, size, op.offset); break;
    case file_action::size:
      io_uring_prep_statx(&entry, op.fd, "", AT_EMPTY_PATH, STATX_SIZE, op.about);
      break;
    case file_action::sync: io_uring_prep_fsync(&entry, op.fd, 0); break;
    case file_action::close: io_uring_prep_close(&entry, op.fd); break;
  }
  name(entry, op, tag::listed);
}

void submit(ring& to, send_datagrams_operation& op) noexcept {
  io_uring_sqe& entry = to.prepare();
  io_uring_prep_poll_add(&entry, op.target->fd, POLLOUT);
  name(entry, op, tag::listed);
}

}  // namespace weft
