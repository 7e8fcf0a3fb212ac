// Waiting for events of an epoll set, to the nanosecond where the kernel can.
//
// Problem: what comes is received at once, into buffers that are lent until it has been handled; a
// loop that looks for more than it handles in between lends ever more of them. Contract: returns
// the number of events, 0 where a signal has ended it; a wait that the kernel refuses ends the
// process (needed_calls.hpp). time_point::min() does not wait, and takes few
// events, since others have their turn still; time_point::max() waits for ever. One thread.
//
//   event_wait::events come;
//   const int count = wait(epoll_fd, come, until);
#pragma once

#include <sys/epoll.h>

#include <array>

#include <weft/base/time.hpp>

namespace weft {

class event_wait {
 public:
  using events = std::array<epoll_event, 1024>;
  /// Each may make two resumptions, of the 512 that a turn has unless it is told otherwise.
  static constexpr int most_beside_others = 128;

  int operator()(int epoll_fd, events& into, time_point until) noexcept;

 private:
  /// As epoll_wait() answers.
  int ask(int epoll_fd, events& into, time_point until) noexcept;

  bool has_pwait2_ = true;  // until the kernel says that it does not
};

}  // namespace weft
