// Internal to the application: SIGINT, SIGTERM and SIGHUP as something a loop can wait for.
//
// Contract: keeps these signals from killing the process for as long as it lives: they are read
// from fd() instead. Threads made meanwhile inherit that. A program that cannot hear its signals
// could not be asked to end: start() says so, and then nothing has changed. Made and ended on one
// thread.
//
//   signal_watch signals;
//   if (auto heard = signals.start(); !heard) return complain(heard.error());
//   while (co_await readable(loop, signals.fd()))
//     if (const auto number = signals.take(); number && *number != 0) stop();
#pragma once

#include <csignal>
#include <expected>
#include <string>

#include <weft/base/result.hpp>

namespace weft::detail {

class signal_watch {
 public:
  signal_watch() = default;
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;
  ~signal_watch();

  /// Else the system call that was refused, and why.
  [[nodiscard]] std::expected<void, std::string> start();
  [[nodiscard]] int fd() const noexcept { return fd_; }

  /// The signal that came, and after one to end, the next one ends the process. 0: none came. The
  /// errno of a read that the system refuses: none will be heard any more.
  [[nodiscard]] result<int> take() noexcept;

 private:
  sigset_t before_{};
  int fd_ = -1;  // -1: nothing has been started
};

}  // namespace weft::detail
