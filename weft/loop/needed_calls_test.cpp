#include <weft/loop/needed_calls.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include <weft/base/sanitizers.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/loop/sleep.hpp>

namespace weft {
namespace {

/// From now on the system call fails with EPERM on this thread.
void forbid(int number) {
  sock_filter lines[] = {
      {.code = BPF_LD | BPF_W | BPF_ABS, .jt = 0, .jf = 0, .k = 0},
      {.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 0, .jf = 1, .k = static_cast<unsigned>(number)},
      {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = SECCOMP_RET_ERRNO | EPERM},
      {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = SECCOMP_RET_ALLOW},
  };
  const sock_fprog filter{.len = 4, .filter = lines};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    std::_Exit(2);
}

task<void> sleep_and_sleep(event_loop& loop) {
  for (;;) std::ignore = co_await sleep_for(loop, std::chrono::milliseconds{1});
}

/// A loop that works, until it may not enter the kernel any more.
void run_until_refused(backend_kind backend) {
  const auto loop = event_loop::create({.backend = backend});
  if (!loop) std::_Exit(3);
  (*loop)->spawn(sleep_and_sleep(**loop));
  for (int i = 0; i < 3; ++i) (*loop)->run_once(time_point::max());
  for (const int call : {SYS_io_uring_enter, SYS_epoll_pwait, SYS_epoll_pwait2}) forbid(call);
  (*loop)->run();
}

TEST(needed_calls, are_all_there_on_a_system_that_forbids_none) {
  EXPECT_FALSE(find_refused_call(calls_of::every_loop).has_value());
  EXPECT_FALSE(find_refused_call(calls_of::epoll).has_value());
}

TEST(needed_calls_death_test, are_named_where_they_are_refused) {
  const auto probe = [](int call, calls_of which) {
    forbid(call);
    const auto found = find_refused_call(which);
    std::fputs(found ? found->message().c_str() : "none", stderr);
    std::_Exit(0);
  };
  EXPECT_EXIT(probe(SYS_accept4, calls_of::epoll), ::testing::ExitedWithCode(0),
              "accept4: Operation not permitted");
  EXPECT_EXIT(probe(SYS_sendto, calls_of::epoll), ::testing::ExitedWithCode(0),
              "sendto: Operation not permitted");
  EXPECT_EXIT(probe(SYS_munmap, calls_of::every_loop), ::testing::ExitedWithCode(0),
              "munmap: Operation not permitted");
}

TEST(needed_calls_death_test, end_a_loop_that_may_not_wait_any_more) {
  if (WEFT_SANITIZED != 0) GTEST_SKIP() << "what a sanitizer asks at the end is refused, too";
  EXPECT_EXIT(run_until_refused(backend_kind::epoll), ::testing::ExitedWithCode(EXIT_FAILURE),
              "epoll_pwait: Operation not permitted");
  if (!event_loop::create({.backend = backend_kind::io_uring})) GTEST_SKIP() << "no io_uring here";
  EXPECT_EXIT(run_until_refused(backend_kind::io_uring), ::testing::ExitedWithCode(EXIT_FAILURE),
              "io_uring_enter: Operation not permitted");
}

}  // namespace
}  // namespace weft
