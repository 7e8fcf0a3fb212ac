#include <weft/loop/file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <weft/loop/file_operation.hpp>
#include <weft/loop/wait.hpp>

namespace weft {
namespace {

class file_wait : public operation_awaiter<file_operation> {
 public:
  file_wait(event_loop& loop, file_action action, int fd) noexcept
      : operation_awaiter{loop, action} {
    operation_.fd = fd;
  }
  file_wait(event_loop& loop, const std::string& path, int flags, mode_t mode) noexcept
      : operation_awaiter{loop, file_action::open} {
    operation_.path = path.c_str();
    operation_.flags = flags;
    operation_.mode = mode;
  }
  file_wait(event_loop& loop, int fd, struct statx& about) noexcept
      : file_wait{loop, file_action::size, fd} {
    operation_.about = &about;
  }
  file_wait(event_loop& loop, file_action action, int fd, std::uint64_t offset, void* data,
            std::size_t size) noexcept
      : file_wait{loop, action, fd} {
    operation_.offset = offset;
    operation_.data = data;
    operation_.size = std::min(size, file_request_most_bytes);
  }

  [[nodiscard]] result<std::size_t> await_resume() noexcept {
    // How a cancel ends a call that io_uring has a thread in.
    if (operation_.result == -EINTR) operation_.result = -ECANCELED;
    if (operation_.result < 0) return fail(operation_.failure());
    return static_cast<std::size_t>(operation_.result);
  }
};

int flags_for(file_access access) noexcept {
  switch (access) {
    case file_access::read: return O_RDONLY | O_CLOEXEC;
    case file_access::read_write: return O_RDWR | O_CLOEXEC;
    case file_access::create: return O_RDWR | O_CREAT | O_CLOEXEC;
    case file_access::create_new: return O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    case file_access::replace: return O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC;
  }
  return O_RDONLY | O_CLOEXEC;
}

task<result<void>> simple_request(event_loop& loop, file_action action, int fd) {
  const auto done = co_await file_wait{loop, action, fd};
  if (!done) co_return fail(done.error());
  co_return result<void>{};
}

}  // namespace

task<result<file>> file::open(event_loop& loop, std::string path, file_access access,
                              mode_t permissions) {
  // The system would read up to it and take the rest for granted.
  if (path.contains('\0')) co_return fail(errc::invalid_argument);
  const auto fd = co_await file_wait{loop, path, flags_for(access), permissions};
  if (!fd) co_return fail(fd.error());
  co_return file{loop, static_cast<int>(*fd)};
}

file::~file() {
  if (fd_ >= 0) ::close(fd_);
}

task<result<std::size_t>> file::read_at(std::uint64_t offset, std::span<char> into) {
  std::size_t got = 0;
  while (got < into.size()) {
    const auto read = co_await file_wait{*loop_,       file_action::read, fd_,
                                         offset + got, into.data() + got, into.size() - got};
    if (!read) co_return fail(read.error());
    if (*read == 0) break;
    got += *read;
  }
  co_return got;
}

borrowing_task<result<void>> file::write_at(std::uint64_t offset, borrowed_text text) {
  std::string_view bytes = text.view();
  while (!bytes.empty()) {
    void* const data = const_cast<char*>(bytes.data());  // which is only read
    const auto written =
        co_await file_wait{*loop_, file_action::write, fd_, offset, data, bytes.size()};
    if (!written) co_return fail(written.error());
    offset += *written;
    bytes.remove_prefix(*written);
  }
  co_return result<void>{};
}

task<result<std::uint64_t>> file::size() {
  struct statx about{};
  const auto asked = co_await file_wait{*loop_, fd_, about};
  if (!asked) co_return fail(asked.error());
  co_return about.stx_size;
}

task<result<void>> file::sync() { return simple_request(*loop_, file_action::sync, fd_); }

task<result<void>> file::close() {
  environment unhurried = co_await this_task::environment();
  unhurried.stop = {};
  unhurried.until = deadline::never();
  co_return co_await simple_request(*loop_, file_action::close, std::exchange(fd_, -1))
      .in(unhurried);
}

}  // namespace weft
