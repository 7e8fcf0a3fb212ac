// What the io_uring backend says it has left, for whoever asks. Its warm path notes nothing for
// this.

#include <poll.h>

#include <algorithm>

#include <weft/loop/file_operation.hpp>
#include <weft/loop/uring/uring_backend.hpp>

namespace weft {
namespace {

int descriptor_of(const listed_operation& op) noexcept {
  if (op.target != nullptr) return op.target->fd;
  return op.kind == operation_kind::file ? static_cast<const file_operation&>(op).fd
                                         : static_cast<const poll_operation&>(op).fd;
}

}  // namespace

std::vector<waiting_operation> uring_backend::waiting_operations() {
  std::vector<waiting_operation> all;
  for (const listed_operation& op : listed_)
    all.push_back({.kind = op.kind, .fd = descriptor_of(op)});
  collect_sends(in_kernel_ - all.size(), all);
  for (const uring_descriptor& d : open_)
    if (d.closing || d.reader != nullptr)
      all.push_back({.kind = d.closing ? operation_kind::close : d.reader->kind, .fd = d.fd});
  return all;
}

/// Sends are not listed, for each would pay for it. One that waits does so for a socket without
/// room; where there is some by now, its answer is under way.
void uring_backend::collect_sends(std::size_t count, std::vector<waiting_operation>& into) {
  if (count == 0) return;
  std::vector<pollfd> streams;
  for (const uring_descriptor& d : open_)
    if (d.accepted == nullptr && !d.datagrams && !d.closing &&
        !std::ranges::contains(into, d.fd, &waiting_operation::fd))
      streams.push_back({.fd = d.fd, .events = POLLOUT, .revents = 0});
  // A report for people: what cannot be told is left out.
  ::poll(streams.data(), streams.size(), 0);
  const std::size_t wanted = into.size() + count;
  for (const pollfd& each : streams)
    if (each.revents == 0 && into.size() < wanted)
      into.push_back({.kind = operation_kind::send, .fd = each.fd});
  into.resize(wanted, {.kind = operation_kind::send, .fd = -1});
}

std::vector<lent_buffer> uring_backend::lent_buffers() {
  std::vector<lent_buffer> all;
  for (const std::uint32_t slot : context_.buffers.slots_in_use())
    if (buffers_.has_lent(slot)) all.push_back({.slot = slot});
  for (const uring_descriptor& d : open_)
    inboxes_.for_each(d, [&](std::uint32_t slot) { all.push_back({.slot = slot, .fd = d.fd}); });
  return all;
}

}  // namespace weft
