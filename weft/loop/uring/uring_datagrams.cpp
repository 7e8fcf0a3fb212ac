// Datagram sockets on io_uring: a multishot receive fills the socket's inbox, and receives are
// answered with all that is in it. io_uring cannot send several datagrams by one entry: sendmmsg
// can, so that the ring is only asked when there is room again.

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <weft/loop/datagram_calls.hpp>
#include <weft/loop/uring/submissions.hpp>
#include <weft/loop/uring/uring_backend.hpp>
#include <weft/loop/uring/user_data.hpp>

namespace weft {
namespace {

/// Datagrams a socket may have waiting before it is told to stop: two full batches.
constexpr unsigned datagrams_limit = 32;
/// Room for the peer's address: IPv6 has the longest. Unix sockets are connected, their peer known.
constexpr std::size_t name_bytes = 28;
constexpr std::size_t header_bytes = sizeof(io_uring_recvmsg_out) + name_bytes;
static_assert(datagram_most_bytes == buffer_pool::slot_capacity - header_bytes);

/// What the kernel puts into a buffer is its header, the peer's address in `name_bytes`, and the
/// datagram.
void unpack(buffer_ref&& bytes, datagram& into) noexcept {
  io_uring_recvmsg_out header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  into.peer.size_bytes = std::min<socklen_t>(header.namelen, name_bytes);
  std::memcpy(&into.peer.storage, bytes.data() + sizeof header, into.peer.size_bytes);
  into.size_bytes = header.payloadlen;
  bytes.remove_prefix(header_bytes);
  into.bytes = std::move(bytes);
}

}  // namespace

result<descriptor*> uring_backend::open_datagram(int family, const datagram_options& options) {
  const auto added = add(open_datagram_socket(family, options));
  if (added) (*added)->datagrams = true;
  return added;
}

bool uring_backend::start_receive_datagrams(receive_datagrams_operation& op) noexcept {
  uring_descriptor& d = socket_of(op);
  if (take_datagrams(d, op)) return true;
  WEFT_DEBUG_ASSERT(d.reader == nullptr, "one operation a direction at a time");
  d.reader = &op;
  if (!d.armed && !d.starved.is_linked()) arm(d);
  return false;
}

/// True: sent, or failed.
bool uring_backend::start_send_datagrams(send_datagrams_operation& op) noexcept {
  op.result = send_datagrams(op.target->fd, op.messages);
  if (op.result != -EAGAIN) return true;
  submit(ring_, op);
  return false;
}

bool uring_backend::take_datagrams(uring_descriptor& d, receive_datagrams_operation& op) noexcept {
  op.result = 0;
  for (datagram& next : op.room) {
    buffer_ref bytes = inboxes_.pop(d);
    if (!bytes) break;
    unpack(std::move(bytes), next);
    ++op.result;
  }
  if (op.result == 0) op.result = -std::exchange(d.failure, std::int16_t{0});
  return op.result != 0;
}

void uring_backend::prepare_receive_datagrams(uring_descriptor& d) noexcept {
  // Read at submission alone: for all sockets the same.
  static msghdr shape{.msg_name = nullptr,
                      .msg_namelen = name_bytes,
                      .msg_iov = nullptr,
                      .msg_iovlen = 0,
                      .msg_control = nullptr,
                      .msg_controllen = 0,
                      .msg_flags = 0};
  io_uring_sqe& entry = ring_.prepare();
  io_uring_prep_recvmsg_multishot(&entry, d.fd, &shape, MSG_TRUNC);
  entry.flags |= IOSQE_BUFFER_SELECT;
  entry.buf_group = buffer_ring::group;
  io_uring_sqe_set_data64(&entry, data_for(&d, tag::datagram));
}

void uring_backend::on_datagram(uring_descriptor& d, const io_uring_cqe& cqe) noexcept {
  d.armed = (cqe.flags & IORING_CQE_F_MORE) != 0;
  if ((cqe.flags & IORING_CQE_F_BUFFER) != 0) {
    const std::uint32_t slot = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
    buffers_.took_back(slot);
    if (cqe.res >= static_cast<int>(header_bytes))
      inboxes_.push(d, slot, static_cast<std::uint32_t>(cqe.res));
    else
      context_.buffers.release(slot);
    if (d.waiting >= datagrams_limit) disarm(d);
  }
  if (d.closing) {
    if (!d.armed) submit_close(d);
    return;
  }
  if (cqe.res == -ENOBUFS)
    wait_for_buffer(d);
  else if (cqe.res < 0 && cqe.res != -ECANCELED && cqe.res != -EINTR)
    d.failure = static_cast<std::int16_t>(-cqe.res);
  if (!fed_.empty() && fed_.back() == &d) return;
  try {
    fed_.push_back(&d);
  } catch (const std::bad_alloc&) {
    serve_datagram_reader(d);
  }
}

/// After all answers at hand, so that a reader is given them together.
void uring_backend::serve_datagram_readers() noexcept {
  for (uring_descriptor* d : fed_) serve_datagram_reader(*d);
  fed_.clear();
}

void uring_backend::serve_datagram_reader(uring_descriptor& d) noexcept {
  if (d.reader == nullptr) return;
  auto& op = static_cast<receive_datagrams_operation&>(*d.reader);
  if (take_datagrams(d, op)) {
    d.reader = nullptr;
    context_.ready.push(op, priority::normal);
  } else if (!d.armed && !d.starved.is_linked()) {
    arm(d);
  }
}

}  // namespace weft
