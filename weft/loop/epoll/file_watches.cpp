#include <weft/loop/epoll/file_watches.hpp>

#include <cerrno>
#include <new>
#include <utility>

#include <weft/base/assert.hpp>

namespace weft {

bool file_watches::start(poll_operation& op) noexcept {
  try {
    return watch_file(op);
  } catch (const std::bad_alloc&) {
    op.result = -ENOMEM;
    return true;
  }
}

bool file_watches::watch_file(poll_operation& op) {
  const auto [at, added] = watches_.try_emplace(op.fd);
  poll_operation*& waiter = at->second.waiter(op.kind);
  WEFT_ASSERT(waiter == nullptr, "a file descriptor has one waiter a direction");
  waiter = &op;
  const int code = apply(op.fd, at->second, added ? EPOLL_CTL_ADD : EPOLL_CTL_MOD);
  if (code == 0) return false;
  waiter = nullptr;
  if (added) watches_.erase(at);
  op.result = code == EPERM ? 0 : -code;
  return true;
}

void file_watches::cancel(poll_operation& op) noexcept {
  const auto at = watches_.find(op.fd);
  if (at == watches_.end() || at->second.waiter(op.kind) != &op) return;
  answer(at->second.waiter(op.kind), -ECANCELED);
  rearm_or_forget(at);
}

void file_watches::on_event(int fd, std::uint32_t events) noexcept {
  const auto at = watches_.find(fd);
  if (at == watches_.end()) return;
  watch& w = at->second;
  if (w.reader != nullptr && (events & readable_events) != 0) answer(w.reader, 0);
  if (w.writer != nullptr && (events & writable_events) != 0) answer(w.writer, 0);
  rearm_or_forget(at);
}

int file_watches::apply(int fd, const watch& w, int action) noexcept {
  std::uint32_t events = EPOLLONESHOT;
  if (w.reader != nullptr) events |= EPOLLIN | EPOLLRDHUP;
  if (w.writer != nullptr) events |= EPOLLOUT;
  epoll_event interest{.events = events, .data = {.u64 = tag_of_file(fd)}};
  return ::epoll_ctl(epoll_, action, fd, &interest) == 0 ? 0 : errno;
}

/// A failure here means that the owner has closed the file, which took it out of the set.
void file_watches::rearm_or_forget(place at) noexcept {
  const bool idle = at->second.idle();
  [[maybe_unused]] const int code =
      apply(at->first, at->second, idle ? EPOLL_CTL_DEL : EPOLL_CTL_MOD);
  if (idle) watches_.erase(at);
}

void file_watches::answer(poll_operation*& waiter, int result) noexcept {
  poll_operation& op = *std::exchange(waiter, nullptr);
  op.result = result;
  ready_.push(op, priority::normal);
}

}  // namespace weft
