#include <weft/loop/epoll/event_wait.hpp>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <tuple>

#include <weft/loop/epoll/plain_calls.hpp>
#include <weft/loop/kernel_clock.hpp>
#include <weft/loop/needed_calls.hpp>

namespace weft {
namespace {

/// Of a wait that has failed: how many events it gave.
[[gnu::noinline, gnu::cold]] int judge_failure(int code) noexcept {
  if (code != EINTR) end_refused_loop({.name = "epoll_pwait", .code = code});
  return 0;
}

}  // namespace

int event_wait::operator()(int epoll_fd, events& into, time_point until) noexcept {
  const int count = ask(epoll_fd, into, until);
  return count >= 0 ? count : judge_failure(errno);
}

int event_wait::ask(int epoll_fd, events& into, time_point until) noexcept {
  constexpr auto capacity = static_cast<int>(std::tuple_size_v<events>);
  if (until == time_point::max()) return plain_calls::wait(epoll_fd, into.data(), capacity, -1);
  const duration left = kernel_clock::left_until(until);
  if (left == duration::zero())
    return plain_calls::wait(epoll_fd, into.data(), most_beside_others, 0);
  if (has_pwait2_) [[likely]] {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
    const int count = plain_calls::wait(epoll_fd, into.data(), capacity, timeout);
    if (count >= 0 || !is_refusal(errno)) return count;
    has_pwait2_ = false;
  }
  // Before Linux 5.11, under valgrind, and where a policy knows only the older call: whole
  // milliseconds, rounded up so that no timer is early.
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return plain_calls::wait(epoll_fd, into.data(), capacity,
                           static_cast<int>(std::min<duration::rep>(milliseconds, 60'000)));
}

}  // namespace weft
