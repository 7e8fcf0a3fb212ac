// Waiting for events of an epoll set, to the nanosecond where the kernel can.
//
// Contract: returns the number of events, or -1 as epoll_wait does. time_point::min() does not
// wait, time_point::max() waits for ever. One thread.
//
//   const int count = wait(epoll_fd, events, until);
#pragma once

#include <sys/epoll.h>

#include <span>

#include <weft/base/time.hpp>

namespace weft {

class event_wait {
 public:
  int operator()(int epoll_fd, std::span<epoll_event> events, time_point until) noexcept;

 private:
  bool has_pwait2_ = true;  // until the kernel says that it does not
};

}  // namespace weft
