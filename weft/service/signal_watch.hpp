// Internal to the application: SIGINT, SIGTERM and SIGHUP as something a loop can wait for.
//
// Contract: keeps these signals from killing the process for as long as it lives: they are read
// from fd() instead. Threads made meanwhile inherit that. Made and ended on one thread.
//
//   signal_watch signals;
//   while (co_await readable(loop, signals.fd()))
//     if (signals.take() != 0) stop();
#pragma once

#include <csignal>

namespace weft::detail {

class signal_watch {
 public:
  signal_watch();
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;
  ~signal_watch();

  /// -1: the system has none; then signals are not heard.
  [[nodiscard]] int fd() const noexcept { return fd_; }

  /// The signal that came, and after one to end, the next one ends the process. 0: none came.
  int take() noexcept;

 private:
  sigset_t before_{};
  int fd_ = -1;
};

}  // namespace weft::detail
