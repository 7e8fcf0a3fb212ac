#include <weft/service/signal_watch.hpp>

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

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
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int signal_watch::take() noexcept {
  signalfd_siginfo info{};
  if (::read(fd_, &info, sizeof info) != sizeof info) return 0;
  const auto number = static_cast<int>(info.ssi_signo);
  if (number != SIGHUP) ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  return number;
}

}  // namespace weft::detail
