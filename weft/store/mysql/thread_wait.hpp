// How somebody on a thread that may block waits for a socket: until it is called off, or its time
// is over.
//
// Contract: made, called off and asked for failure() by the thread of a loop; ready() is of one
// other, and has come to its end before failure() is asked and before it is destroyed.
//
//   thread_wait patience{environment.until};
//   const stop_callback off{environment.stop, [&] { patience.call_off(); }};
//   co_await blocking([&] { return patience.ready(fd, true) ? read(fd) : give_up(); });
#pragma once

#include <weft/base/result.hpp>
#include <weft/coro/deadline.hpp>

namespace weft::store::mysql {

class thread_wait {
 public:
  explicit thread_wait(deadline until) noexcept;
  thread_wait(const thread_wait&) = delete;
  thread_wait& operator=(const thread_wait&) = delete;
  ~thread_wait();

  void call_off() noexcept;
  /// Waits until `fd` can be read from, or written to. False: it is to be given up.
  [[nodiscard]] bool ready(int fd, bool to_read) noexcept;
  /// Why it was: errc::cancelled, errc::timed_out, or errc::exhausted, where the process had no
  /// descriptor left to be called off by.
  [[nodiscard]] const result<void>& failure() const noexcept { return failure_; }

 private:
  deadline until_;
  int called_off_;  // an eventfd
  result<void> failure_;
};

}  // namespace weft::store::mysql
