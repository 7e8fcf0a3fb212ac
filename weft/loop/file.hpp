// Files, without blocking the loop: by the ring's own operations on io_uring, by a few threads on
// epoll.
//
// Contract: move-only, used on the shard that opened it, and alive as long as an operation of it
// is; any number of those may be in flight. Places are counted from the start of the file: there is
// no position to share. Memory that is read into or written from stays the caller's until the
// operation has ended. Every wait ends with errc::cancelled when its task is asked to stop and
// errc::timed_out at its deadline, if the operation has not begun; one that has is waited for, and
// tells how it ended. errc::unsupported where the backend has no files.
//
//   auto log = co_await file::open(loop, "/var/log/app", file_access::create);
//   auto written = co_await log->write_at(0, line);
//   auto safe = co_await log->sync();
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/result.hpp>
#include <weft/coro/borrowed_text.hpp>
#include <weft/coro/borrowing_task.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft {

enum class file_access : std::uint8_t {
  read,        // it must be there
  read_write,  // it must be there
  create,      // read and written; made if it is not there
  create_new,  // read and written; it must not be there
  replace      // read and written; made if it is not there, emptied if it is
};

class file {
 public:
  /// errc::not_found: no such file. `permissions` are those of a file that is made, less the
  /// process's mask.
  [[nodiscard]] static task<result<file>> open(event_loop& loop, std::string path,
                                               file_access access = file_access::read,
                                               mode_t permissions = 0644);
  /// Takes over an open descriptor of a regular file, which must not be O_NONBLOCK: io_uring would
  /// fail where the kernel has to fetch.
  [[nodiscard]] static file adopt(event_loop& loop, int fd) noexcept { return {loop, fd}; }
  file(file&& other) noexcept : loop_{other.loop_}, fd_{std::exchange(other.fd_, -1)} {}
  file& operator=(file&& other) noexcept {
    std::swap(loop_, other.loop_);
    std::swap(fd_, other.fd_);
    return *this;
  }
  /// Closes, and does not hear whether that failed.
  ~file();

  /// Fills `into` from `offset` on, as far as the file goes. Gives how many bytes; 0 is its end.
  [[nodiscard]] task<result<std::size_t>> read_at(std::uint64_t offset, std::span<char> into);
  /// Writes all of `bytes` at `offset`. Cut short, it may have written a part.
  [[nodiscard]] borrowing_task<result<void>> write_at(std::uint64_t offset,
                                                      borrowed_text bytes WEFT_LIFETIME_BOUND);
  [[nodiscard]] task<result<std::uint64_t>> size();
  /// Returns once what was written would outlive a loss of power.
  [[nodiscard]] task<result<void>> sync();
  /// Cannot be called off. The file is then empty.
  [[nodiscard]] task<result<void>> close();

  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  /// Its descriptor, which stays its own; -1 if it is not open.
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  file(event_loop& loop, int fd) noexcept : loop_{&loop}, fd_{fd} {}
  event_loop* loop_;
  int fd_;
};

}  // namespace weft
