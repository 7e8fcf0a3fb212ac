#include <weft/loop/needed_calls.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <span>
#include <system_error>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/loop/epoll/plain_calls.hpp>

namespace weft {
namespace {

constexpr int no_descriptor = -1;

struct probe {
  const char* name;
  long (*call)() noexcept;
};

/// Of the descriptor by which others wake it; what a ring does is none of these.
constexpr probe of_every_loop[] = {
    {"read", [] noexcept -> long { return ::read(no_descriptor, nullptr, 0); }},
    {"write", [] noexcept -> long { return ::write(no_descriptor, nullptr, 0); }},
};

constexpr probe of_epoll[] = {
    {"accept4", [] noexcept -> long { return ::accept4(no_descriptor, nullptr, nullptr, 0); }},
    {"shutdown", [] noexcept -> long { return ::shutdown(no_descriptor, SHUT_RD); }},
    {"close", [] noexcept -> long { return ::close(no_descriptor); }},
    {"recvfrom", [] noexcept -> long { return plain_calls::receive(no_descriptor, nullptr, 0); }},
    {"sendto", [] noexcept -> long { return plain_calls::send(no_descriptor, nullptr, 0, 0); }},
    {"sendmsg",
     [] noexcept -> long {
       const msghdr nothing{};
       return ::sendmsg(no_descriptor, &nothing, 0);
     }},
};

}  // namespace

bool is_refusal(int code) noexcept { return code == EPERM || code == EACCES || code == ENOSYS; }

std::string refused_call::message() const {
  return weft::format("{}: {}", name, std::generic_category().message(code));
}

std::optional<refused_call> find_refused_call(calls_of which) noexcept {
  const std::span<const probe> probes =
      which == calls_of::epoll ? std::span<const probe>{of_epoll} : of_every_loop;
  for (const probe& each : probes)
    if (each.call() < 0 && is_refusal(errno)) return refused_call{each.name, errno};
  return std::nullopt;
}

void end_refused_loop(refused_call refused) noexcept {
  try {
    log::error(weft::format(
        "the event loop is refused {}: it cannot go on, and the process ends; a policy of the "
        "container (seccomp) may forbid that call",
        refused.message()));
  } catch (const std::exception&) {
    log::error("the event loop is refused a system call, and the process ends");
  }
  std::_Exit(EXIT_FAILURE);
}

}  // namespace weft
