#include <apps/weftd/foreign_stream.hpp>

#include <poll.h>

#include <csignal>
#include <tuple>

namespace weftd {

void wait_for(int fd, short events) {
  sigset_t heard;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &heard);
  sigdelset(&heard, SIGINT);
  sigdelset(&heard, SIGTERM);
  pollfd waited{.fd = fd, .events = events, .revents = 0};
  std::ignore = ::ppoll(&waited, 1, nullptr, &heard);
}

}  // namespace weftd
