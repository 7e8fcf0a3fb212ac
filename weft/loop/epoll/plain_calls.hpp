// The system calls of every request, without what a C library adds to them.
//
// Problem: in a process with more than one thread glibc makes recv(), send() and epoll_wait()
// points where pthread_cancel() may strike, which costs each some 45 instructions; and nobody may
// cancel a thread that runs a loop. Contract: results and errno as of the functions of those names.
// Where a sanitizer watches these functions, it is given them.
//
//   ssize_t got = plain_calls::receive(fd, into, size);
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <ctime>

#include <weft/base/sanitizers.hpp>

namespace weft::plain_calls {

#if WEFT_SANITIZED

inline ssize_t receive(int fd, void* into, std::size_t size) noexcept {
  return ::recv(fd, into, size, 0);
}
inline ssize_t send(int fd, const void* from, std::size_t size, int flags) noexcept {
  return ::send(fd, from, size, flags);
}
inline int wait(int epoll_fd, epoll_event* events, int most, int milliseconds) noexcept {
  return ::epoll_wait(epoll_fd, events, most, milliseconds);
}
inline int wait(int epoll_fd, epoll_event* events, int most, const timespec& at_most) noexcept {
  return ::epoll_pwait2(epoll_fd, events, most, &at_most, nullptr);
}

#else

/// What the kernel takes a signal mask to be, also where there is none.
inline constexpr std::size_t mask_bytes = 8;

inline ssize_t receive(int fd, void* into, std::size_t size) noexcept {
  return ::syscall(SYS_recvfrom, fd, into, size, 0, nullptr, nullptr);
}
inline ssize_t send(int fd, const void* from, std::size_t size, int flags) noexcept {
  return ::syscall(SYS_sendto, fd, from, size, flags, nullptr, 0);
}
inline int wait(int epoll_fd, epoll_event* events, int most, int milliseconds) noexcept {
  return static_cast<int>(
      ::syscall(SYS_epoll_pwait, epoll_fd, events, most, milliseconds, nullptr, mask_bytes));
}
inline int wait(int epoll_fd, epoll_event* events, int most, const timespec& at_most) noexcept {
  return static_cast<int>(
      ::syscall(SYS_epoll_pwait2, epoll_fd, events, most, &at_most, nullptr, mask_bytes));
}

#endif

}  // namespace weft::plain_calls
