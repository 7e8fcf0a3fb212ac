#include <weft/service/signal_watch.hpp>

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <ctime>

namespace weft::detail {

signal_watch::signal_watch() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  fd_ = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

signal_watch::~signal_watch() {
  if (fd_ >= 0) ::close(fd_);
  // One that came while the program ended must not kill it now.
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  const timespec at_once{};
  while (::sigtimedwait(&hangup, nullptr, &at_once) == SIGHUP) {}
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int signal_watch::take() noexcept {
  signalfd_siginfo info{};
  if (::read(fd_, &info, sizeof info) != sizeof info) return 0;
  const auto number = static_cast<int>(info.ssi_signo);
  if (number != SIGHUP) {  // a second one ends the program; SIGHUP does not, while it drains
    sigset_t still = before_;
    sigaddset(&still, SIGHUP);
    ::pthread_sigmask(SIG_SETMASK, &still, nullptr);
  }
  return number;
}

}  // namespace weft::detail
