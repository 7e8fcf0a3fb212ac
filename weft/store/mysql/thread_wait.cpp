#include <weft/store/mysql/thread_wait.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>

namespace weft::store::mysql {
namespace {

/// For poll(), not a moment too early; -1: for ever.
int milliseconds_until(deadline until) noexcept {
  if (until.is_never()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until.when() - std::chrono::steady_clock::now());
  return static_cast<int>(
      std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

}  // namespace

thread_wait::thread_wait(deadline until) noexcept
    : until_{until}, called_off_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  if (called_off_ == -1) failure_ = fail(errc::exhausted);
}

thread_wait::~thread_wait() {
  if (called_off_ != -1) ::close(called_off_);
}

void thread_wait::call_off() noexcept {
  // The only one that is ever written: it has room.
  const std::uint64_t one = 1;
  // A full counter means that it is told already.
  if (called_off_ != -1) static_cast<void>(::write(called_off_, &one, sizeof(one)) == 0);
}

bool thread_wait::ready(int fd, bool to_read) noexcept {
  if (!failure_) return false;
  std::array<pollfd, 2> watched{
      pollfd{.fd = fd, .events = static_cast<short>(to_read ? POLLIN : POLLOUT), .revents = 0},
      pollfd{.fd = called_off_, .events = POLLIN, .revents = 0}};
  int seen = 0;
  do {
    seen = ::poll(watched.data(), watched.size(), milliseconds_until(until_));
  } while (seen == -1 && errno == EINTR);
  if (watched[1].revents != 0) {
    failure_ = fail(errc::cancelled);
  } else if (seen <= 0) {
    failure_ = fail(seen == 0 ? errc::timed_out : errc::exhausted);
  }
  return failure_.has_value();
}

}  // namespace weft::store::mysql
