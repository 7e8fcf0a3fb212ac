#include <weft/loop/needed_calls.hpp>

#include <sys/mman.h>
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

/// Of the descriptor by which others wake it, and of its threads' stacks; what a ring does is none
/// of these.
constexpr call_probe of_every_loop[] = {
    {"read", [] noexcept -> long { return ::read(no_descriptor, nullptr, 0); }},
    {"write", [] noexcept -> long { return ::write(no_descriptor, nullptr, 0); }},
    {"munmap", [] noexcept -> long { return ::munmap(nullptr, 0); }},
};

constexpr call_probe of_epoll[] = {
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
  return which == calls_of::epoll ? find_refused_call(of_epoll) : find_refused_call(of_every_loop);
}

std::optional<refused_call> find_refused_call(std::span<const call_probe> among) noexcept {
  for (const call_probe& each : among)
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
