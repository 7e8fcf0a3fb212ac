// How many system calls a stretch of code makes: counted, so that a test can insist.
//
// Contract: the body runs in a child process, which the parent traces; it marks the stretch by
// calling mark() before and after, and returns false where it failed. nullopt: this machine does
// not let a process trace its child, or the body failed.
//
//   auto calls = system_calls_between_marks([] { mark(); ::getuid(); mark(); return true; });
//   EXPECT_EQ(calls, 1U);
#pragma once

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <optional>

namespace weft::net {

/// A call that nothing else makes.
inline void mark() { ::syscall(SYS_getpgid, 0); }

namespace detail {

/// The number of the system call that `child` is about to make; nullopt at the end of one.
inline std::optional<std::uint64_t> entered_call(pid_t child) {
  __ptrace_syscall_info info{};
  if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0) return std::nullopt;
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return std::nullopt;
  return info.entry.nr;
}

inline std::optional<unsigned> count_calls(pid_t child) {
  unsigned marks = 0;
  unsigned counted = 0;
  int status = 0;
  ::waitpid(child, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  while (::waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    if (const auto number = entered_call(child)) {
      if (*number == SYS_getpgid)
        ++marks;
      else if (marks == 1)
        ++counted;
    }
    ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  }
  const bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0 && marks == 2;
  return done ? std::optional{counted} : std::nullopt;
}

}  // namespace detail

template <class F>
std::optional<unsigned> system_calls_between_marks(F body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(2);
    ::raise(SIGSTOP);
    ::_exit(body() ? 0 : 1);
  }
  return detail::count_calls(child);
}

}  // namespace weft::net
