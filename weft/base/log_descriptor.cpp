#include <weft/base/log_descriptor.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <new>

namespace weft::log::detail {

log_descriptor::~log_descriptor() { leave(); }

void log_descriptor::leave() noexcept {
  if (own_ >= 0) ::close(own_);
  own_ = -1;
  how_ = way::closed;
  device_ = 0;
  file_ = 0;
  rest_.clear();
}

/// Sees what the descriptor is now: people redirect it while the program runs.
void log_descriptor::look() noexcept {
  struct stat now{};
  if (::fstat(descriptor_, &now) != 0) return leave();
  if (how_ != way::closed && now.st_dev == device_ && now.st_ino == file_) return;
  leave();
  device_ = now.st_dev;
  file_ = now.st_ino;
  how_ = S_ISSOCK(now.st_mode) ? way::by_socket : way::plain;
  if (S_ISFIFO(now.st_mode) || S_ISCHR(now.st_mode)) reopen();
}

void log_descriptor::reopen() noexcept {
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", descriptor_);
  own_ = ::open(path.data(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (own_ < 0) how_ = way::after_poll;
}

/// As write(2), and EAGAIN where that would wait.
ssize_t log_descriptor::write_part(std::string_view part) const noexcept {
  if (how_ == way::by_socket) {
    const ssize_t sent = ::send(descriptor_, part.data(), part.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    // A policy (seccomp) may forbid that call.
    if (sent >= 0 || (errno != EPERM && errno != ENOSYS)) return sent;
  }
  if (how_ == way::plain) return ::write(own_ >= 0 ? own_ : descriptor_, part.data(), part.size());
  pollfd ready{descriptor_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) == 1)  // a pipe that is ready takes PIPE_BUF bytes
    return ::write(descriptor_, part.data(), std::min<std::size_t>(part.size(), PIPE_BUF));
  errno = EAGAIN;
  return -1;
}

/// What is left when no more is taken.
std::string_view log_descriptor::write_some(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto bytes = write_part(text);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) break;
    text.remove_prefix(static_cast<std::size_t>(bytes));
  }
  return text;
}

bool log_descriptor::write(std::string_view line) noexcept {
  look();
  if (how_ == way::closed) return false;
  rest_.erase(0, rest_.size() - write_some(rest_).size());
  if (!rest_.empty()) return false;
  const std::string_view left = write_some(line);
  if (left.size() == line.size()) return false;
  try {
    rest_ = left;
  } catch (const std::bad_alloc&) {
    rest_.clear();  // the line stays cut: there is no memory for its end
  }
  return true;
}

}  // namespace weft::log::detail
