#include <apps/weftd/foreign_stream.hpp>

#include <poll.h>

#include <csignal>
#include <tuple>

namespace weftd {

void wait_for(int fd, short events) {
  sigset_t heard;
  // Fails for no argument that is given here.
  ::pthread_sigmask(SIG_SETMASK, nullptr, &heard);
  sigdelset(&heard, SIGINT);
  sigdelset(&heard, SIGTERM);
  pollfd waited{.fd = fd, .events = events, .revents = 0};
  // Whatever ends it, the caller tries the stream again.
  std::ignore = ::ppoll(&waited, 1, nullptr, &heard);
}

}  // namespace weftd
