#include <weft/net/activation.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <vector>

#include <weft/base/error.hpp>
#include <weft/base/format.hpp>

namespace weft::net {
namespace {

constexpr std::string_view prefix = "systemd:";
constexpr int first_passed_on = 3;  // SD_LISTEN_FDS_START
constexpr int passed_on_most = 4096;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? std::string{} : std::string{value};
}

std::optional<int> number_in(std::string_view text) noexcept {
  int value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_one = failed == std::errc{} && end == text.data() + text.size() && value >= 0;
  return is_one ? std::optional{value} : std::nullopt;
}

std::vector<std::string_view> split(std::string_view names) {
  std::vector<std::string_view> all;
  for (const auto each : std::views::split(names, ':')) all.emplace_back(each);
  return all;
}

std::optional<int> option_of(int fd, int name) noexcept {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(fd, SOL_SOCKET, name, &value, &size) != 0) return std::nullopt;
  return value;
}

/// Which descriptors are asked for: those of that name, or all.
std::vector<int> candidates(std::string_view name, int count,
                            const std::vector<std::string_view>& names) {
  std::vector<int> found;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (name.empty() || (at < names.size() && names[at] == name))
      found.push_back(first_passed_on + i);
  }
  return found;
}

std::expected<int, std::string> made_ready(int fd, std::string_view text) {
  const auto complaint = [&](std::string_view what) {
    return std::unexpected{weft::format("'{}' is descriptor {}, which {}", text, fd, what)};
  };
  if (option_of(fd, SO_TYPE) != SOCK_STREAM)
    return complaint("is no stream socket: write `ListenStream=` in the manager's .socket file");
  if (option_of(fd, SO_ACCEPTCONN) != 1)
    return complaint("does not listen: leave `Accept=no` in the manager's .socket file");
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
      ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
    return complaint(weft::format("cannot be set up: {}", error::from_errno(errno).message()));
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // of a Unix socket there is none
  return fd;
}

}  // namespace

activation_variables activation_environment() {
  return {.pid = variable("LISTEN_PID"),
          .count = variable("LISTEN_FDS"),
          .names = variable("LISTEN_FDNAMES")};
}

bool is_activated(std::string_view text) noexcept { return text.starts_with(prefix); }

std::expected<int, std::string> activated_socket(std::string_view text,
                                                 const activation_variables& said) {
  if (said.count.empty())
    return std::unexpected{weft::format(
        "'{}' is a socket of a service manager, and none has started this program (LISTEN_FDS is "
        "not set): start it by its .socket unit, or by `systemd-socket-activate -l 8080`",
        text)};
  if (number_in(said.pid) != ::getpid())
    return std::unexpected{weft::format(
        "LISTEN_PID is '{}', but this process is {}: its sockets are meant for another; start the "
        "program itself, not a script that starts it (or let that `exec` it)",
        said.pid, ::getpid())};
  const auto count = number_in(said.count);
  if (!count || *count == 0 || *count > passed_on_most)
    return std::unexpected{
        weft::format("LISTEN_FDS is '{}', which is no number of sockets", said.count)};
  const std::string_view name = text.substr(prefix.size());
  const std::vector<int> found = candidates(name, *count, split(said.names));
  if (found.empty())
    return std::unexpected{
        weft::format("'{}': the service manager has passed on no socket of that name, only '{}'; "
                     "`FileDescriptorName=` in its .socket file gives the name",
                     text, said.names)};
  if (found.size() > 1)
    return std::unexpected{
        weft::format("'{}' may be any of {} sockets, named '{}': write systemd:NAME, with a name "
                     "that one of them has",
                     text, found.size(), said.names)};
  return made_ready(found.front(), text);
}

}  // namespace weft::net
