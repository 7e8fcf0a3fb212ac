#include <weft/store/sqlite/query_process.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <vector>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/shielded.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/store/sqlite/query_child.hpp>
#include <weft/store/sqlite/query_message.hpp>

namespace weft::store::sqlite {
namespace {

constexpr std::size_t received_at_once = std::size_t{64} * 1024;
/// What a message has left behind beyond this is given back.
constexpr std::size_t kept_bytes = std::size_t{256} * 1024;

/// What the process has of this one's environment, in which there may be secrets.
constexpr std::string_view passed_on[] = {
    "TZ=", "TZDIR=", "LD_LIBRARY_PATH=", "ASAN_OPTIONS=", "TSAN_OPTIONS=", "UBSAN_OPTIONS="};

std::vector<char*> own_environment() {
  std::vector<char*> made;
  for (char** each = ::environ; *each != nullptr; ++each)
    if (std::ranges::any_of(passed_on, [&](std::string_view name) {
          return std::string_view{*each}.starts_with(name);
        }))
      made.push_back(*each);
  made.push_back(nullptr);
  return made;
}

/// What a process is started with, beside its words: descriptors 0 to 3, and its own signals.
class spawn_rules {
 public:
  explicit spawn_rules(int channel) noexcept {
    failed_ = ::posix_spawn_file_actions_init(&files_);
    if (failed_ == 0) failed_ = ::posix_spawnattr_init(&attributes_);
    if (failed_ == 0)
      failed_ = ::posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    if (failed_ == 0)
      failed_ = ::posix_spawn_file_actions_adddup2(&files_, STDIN_FILENO, STDOUT_FILENO);
    if (failed_ == 0) failed_ = ::posix_spawn_file_actions_adddup2(&files_, channel, query_channel);
    if (failed_ == 0)
      failed_ = ::posix_spawn_file_actions_addclosefrom_np(&files_, query_channel + 1);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    if (failed_ == 0) failed_ = ::posix_spawnattr_setsigmask(&attributes_, &none);
    if (failed_ == 0) failed_ = ::posix_spawnattr_setsigdefault(&attributes_, &all);
    constexpr short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (failed_ == 0) failed_ = ::posix_spawnattr_setflags(&attributes_, flags);
  }
  spawn_rules(const spawn_rules&) = delete;
  spawn_rules& operator=(const spawn_rules&) = delete;
  ~spawn_rules() {
    // Neither can fail with what has been initialised.
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);  // nor this
  }

  /// An errno, or 0.
  int spawn(pid_t& made, const std::string& program, char* const* words) noexcept {
    if (failed_ != 0) return failed_;
    return ::posix_spawn(&made, program.c_str(), &files_, &attributes_, words,
                         own_environment().data());
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
  int failed_ = 0;
};

task<result<void>> until_readable(event_loop& loop, int file) {
  co_return co_await readable(loop, file);
}

}  // namespace

result<query_process> query_process::start(const query_process_start& from) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(error::from_errno(errno));
  std::string memory = weft::format("{}", from.memory_bytes);
  std::string patience = weft::format("{}", from.busy_timeout.count());
  std::string subcommand{query_subcommand};
  std::string name = "weft-query";
  std::string directory = from.directory;
  std::string database = from.database;
  char* const words[] = {name.data(),   subcommand.data(), directory.data(), database.data(),
                         memory.data(), patience.data(),   nullptr};
  pid_t pid = -1;
  const int failed = spawn_rules{ends[1]}.spawn(pid, from.program, words);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    return fail(error::from_errno(failed));
  }
  const int end_watch = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  query_process made{pid, end_watch, ends[0]};
  // The other end waits, this one does not.
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return fail(error::from_errno(errno));
  return made;
}

query_process& query_process::operator=(query_process&& other) noexcept {
  if (this == &other) return *this;
  end_here();
  pid_ = std::exchange(other.pid_, -1);
  end_watch_ = std::exchange(other.end_watch_, -1);
  channel_ = std::exchange(other.channel_, -1);
  received_ = std::move(other.received_);
  taken_ = other.taken_;
  return *this;
}

borrowing_task<result<void>> query_process::send(event_loop& loop, std::string_view message) {
  while (!message.empty()) {
    const ssize_t sent =
        ::send(channel_, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      message.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      const auto ready = co_await writable(loop, channel_);
      if (!ready) co_return fail(ready.error());
    } else if (errno != EINTR) {
      co_return fail(errc::closed);
    }
  }
  co_return {};
}

std::size_t query_process::size_of_next() const noexcept {
  if (waiting_bytes() < query_message_head_bytes) return query_message_head_bytes;
  std::uint32_t size = 0;
  std::memcpy(&size, received_.data() + taken_, sizeof size);
  return query_message_head_bytes + size;
}

/// False: there is nothing yet.
result<bool> query_process::read_some() {
  const std::size_t before = received_.size();
  ssize_t got = 0;
  received_.resize_and_overwrite(before + received_at_once, [&](char* bytes, std::size_t) {
    do got = ::recv(channel_, bytes + before, received_at_once, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    return before + static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  });
  if (got > 0) return true;
  if (got < 0 && errno == EAGAIN) return false;
  return fail(errc::closed);
}

task<result<std::string_view>> query_process::receive(event_loop& loop) {
  received_.erase(0, std::exchange(taken_, 0));
  if (received_.empty() && received_.capacity() > kept_bytes) received_ = {};
  for (;;) {
    const std::size_t size = size_of_next();
    if (size > query_message_head_bytes + query_message_bytes_max) co_return fail(errc::closed);
    // A message of no bytes is none of those that there are.
    if (size > query_message_head_bytes && size <= received_.size()) {
      taken_ = size;
      co_return std::string_view{received_}.substr(query_message_head_bytes,
                                                   size - query_message_head_bytes);
    }
    if (size == query_message_head_bytes && received_.size() >= size) co_return fail(errc::closed);
    received_.reserve(size + received_at_once);  // and no more, as it would grow by itself
    const auto got = read_some();
    if (!got) co_return fail(got.error());
    if (*got) continue;
    if (const auto ready = co_await readable(loop, channel_); !ready) co_return fail(ready.error());
  }
}

void query_process::kill() noexcept {
  // It is a child that was not waited for, so that the number is still its own.
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

bool query_process::reap() noexcept {
  pid_t ended = 0;
  do ended = ::waitpid(pid_, &exit_status_, WNOHANG);
  while (ended < 0 && errno == EINTR);
  if (ended == 0) return false;
  pid_ = -1;  // ECHILD: this program has the kernel wait for its children
  return true;
}

void query_process::close_all() noexcept {
  for (int* const each : {&end_watch_, &channel_})
    if (const int file = std::exchange(*each, -1); file >= 0) ::close(file);
}

task<void> query_process::end(event_loop& loop) {
  if (pid_ < 0) co_return;
  kill();
  if (end_watch_ >= 0)
    static_cast<void>(
        co_await shielded(until_readable(loop, end_watch_), deadline::at(loop.now() + end_within)));
  end_here();
}

void query_process::end_here() noexcept {
  if (pid_ > 0 && !reap()) {
    kill();
    constexpr int patience_ms = 1'000;
    pollfd watched{.fd = end_watch_, .events = POLLIN, .revents = 0};
    if (end_watch_ < 0)
      // Without an end, reap() finds it.
      static_cast<void>(::waitpid(std::exchange(pid_, -1), &exit_status_, 0));
    else
      static_cast<void>(::poll(&watched, 1, patience_ms));  // reap() looks next
    if (pid_ > 0 && !reap())
      log::error(weft::format("process {} runs a query, and the kernel does not end it", pid_));
  }
  close_all();
}

}  // namespace weft::store::sqlite
