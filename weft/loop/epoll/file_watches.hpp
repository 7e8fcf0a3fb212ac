// Waiting for file descriptors that are not ours: pipes, signalfds, the sockets of C libraries.
//
// Contract: at most one waiter a direction and file. A file is in the epoll set only while somebody
// waits for it, one-shot, so that its owner may close it at any other time. Regular files, which
// epoll does not know, are always ready, as poll(2) has it. One thread.
//
//   file_watches watches{ready, epoll_fd};
//   if (!watches.start(op)) return;                       // its answer will be scheduled
//   if (names_file(event.data.u64)) watches.on_event(file_of(event.data.u64), event.events);
#pragma once

#include <sys/epoll.h>

#include <cstdint>

#include <weft/base/hash_map.hpp>
#include <weft/coro/ready_queue.hpp>
#include <weft/loop/operation.hpp>

namespace weft {

inline constexpr std::uint32_t readable_events = EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR;
inline constexpr std::uint32_t writable_events = EPOLLOUT | EPOLLHUP | EPOLLERR;

/// An event's tag when it means a file by its number: the top bit, which no socket's tag has.
[[nodiscard]] constexpr std::uint64_t tag_of_file(int fd) noexcept {
  return std::uint64_t{1} << 63U | static_cast<std::uint32_t>(fd);
}
[[nodiscard]] constexpr bool names_file(std::uint64_t tag) noexcept { return tag >> 63U != 0; }
[[nodiscard]] constexpr int file_of(std::uint64_t tag) noexcept {
  return static_cast<int>(static_cast<std::uint32_t>(tag));
}

class file_watches {
 public:
  file_watches(ready_queue& ready, int epoll_fd) noexcept : ready_{ready}, epoll_{epoll_fd} {}

  /// True: answered at once.
  [[nodiscard]] bool start(poll_operation& op) noexcept;
  void cancel(poll_operation& op) noexcept;
  void on_event(int fd, std::uint32_t events) noexcept;
  /// Calls `see` with each operation not yet answered, and its file.
  template <class F>
  void for_each_waiting(F see) const {
    for (const auto& [fd, each] : watches_) {
      if (each.reader != nullptr) see(*each.reader, fd);
      if (each.writer != nullptr) see(*each.writer, fd);
    }
  }

 private:
  struct watch {
    poll_operation* reader = nullptr;
    poll_operation* writer = nullptr;
    [[nodiscard]] poll_operation*& waiter(operation_kind direction) noexcept {
      return direction == operation_kind::readable ? reader : writer;
    }
    [[nodiscard]] bool idle() const noexcept { return reader == nullptr && writer == nullptr; }
  };
  using place = hash_map<int, watch>::iterator;

  /// As start(). Throws std::bad_alloc, and has done nothing then.
  [[nodiscard]] bool watch_file(poll_operation& op);
  [[nodiscard]] int apply(int fd, const watch& w, int action) noexcept;
  void rearm_or_forget(place at) noexcept;
  void answer(poll_operation*& waiter, int result) noexcept;

  ready_queue& ready_;
  int epoll_;
  hash_map<int, watch> watches_;
};

}  // namespace weft
