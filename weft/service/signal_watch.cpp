#include <weft/service/signal_watch.hpp>

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <system_error>
#include <tuple>

#include <weft/base/format.hpp>

namespace weft::detail {
namespace {

std::unexpected<std::string> refused(const char* call, int code) {
  return std::unexpected{
      weft::format("signals cannot be heard, and the program could not be asked to end: {}: {}; a "
                   "policy of the container (seccomp) may forbid that call",
                   call, std::generic_category().message(code))};
}

}  // namespace

std::expected<void, std::string> signal_watch::start() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  if (const int code = ::pthread_sigmask(SIG_BLOCK, &signals, &before_); code != 0)
    return refused("rt_sigprocmask", code);
  fd_ = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ >= 0) return {};
  const int code = errno;
  std::ignore = ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);  // it could be set a moment ago
  return refused("signalfd4", code);
}

signal_watch::~signal_watch() {
  if (fd_ < 0) return;
  ::close(fd_);
  // One that came while the program ended must not kill it now.
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  const timespec at_once{};
  while (::sigtimedwait(&hangup, nullptr, &at_once) == SIGHUP) {}
  std::ignore = ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);  // the program ends either way
}

result<int> signal_watch::take() noexcept {
  signalfd_siginfo info{};
  const ssize_t got = ::read(fd_, &info, sizeof info);
  if (got < 0 && errno != EAGAIN && errno != EINTR) return fail(error::from_errno(errno));
  if (got != sizeof info) return 0;
  const auto number = static_cast<int>(info.ssi_signo);
  if (number != SIGHUP) {  // a second one ends the program; SIGHUP does not, while it drains
    sigset_t still = before_;
    sigaddset(&still, SIGHUP);
    std::ignore = ::pthread_sigmask(SIG_SETMASK, &still, nullptr);  // else it only ends as asked
  }
  return number;
}

}  // namespace weft::detail
