#include <weft/store/sqlite/nowait_reads.hpp>

#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <initializer_list>

#include <sqlite3.h>

namespace weft::store::sqlite {
namespace {

struct thread_mode {
  bool is_on = false;
  bool has_missed = false;
  blind_reads blind = blind_reads::wait;
};
constinit thread_local thread_mode mode;

std::atomic<bool> seen_blind{false};

/// Whether a policy (seccomp) or an old kernel refuses the call itself. One that has it says that
/// there is no such descriptor.
bool is_call_refused() noexcept {
  static const bool is = ::preadv2(-1, nullptr, 0, 0, RWF_NOWAIT) < 0 && errno != EBADF;
  return is;
}

/// Linux 5.9 and 5.10 give 0 for a page that they do not have (preadv2(2), BUGS).
bool is_behind_end(int descriptor, off_t offset) noexcept {
  struct stat file{};
  return ::fstat(descriptor, &file) == 0 && offset >= file.st_size;
}

ssize_t miss() noexcept {
  mode.has_missed = true;
  errno = EAGAIN;
  return -1;
}

/// Where nobody can say whether the page is in memory.
ssize_t read_blindly(int descriptor, void* into, std::size_t size, off_t offset) noexcept {
  return mode.blind == blind_reads::readers ? miss() : ::pread(descriptor, into, size, offset);
}

ssize_t read_at(int descriptor, void* into, std::size_t size, off_t offset) {
  if (!mode.is_on) return ::pread(descriptor, into, size, offset);
  if (is_call_refused()) return read_blindly(descriptor, into, size, offset);
  const iovec piece{.iov_base = into, .iov_len = size};
  const ssize_t got = ::preadv2(descriptor, &piece, 1, offset, RWF_NOWAIT);
  if (got > 0) return got;
  if (got == 0) return is_behind_end(descriptor, offset) ? 0 : miss();
  if (errno == EAGAIN) return miss();
  if (errno != EOPNOTSUPP) return -1;
  seen_blind.store(true, std::memory_order_relaxed);
  return read_blindly(descriptor, into, size, offset);
}

}  // namespace

nowait_reads::nowait_reads(blind_reads blind) noexcept {
  mode = {.is_on = true, .has_missed = false, .blind = blind};
}

nowait_reads::~nowait_reads() { mode.is_on = false; }

bool nowait_reads::would_block() const noexcept { return mode.has_missed; }

void nowait_reads::forget() noexcept { mode.has_missed = false; }

bool nowait_reads::has_been_blind() noexcept { return seen_blind.load(std::memory_order_relaxed); }

bool nowait_reads::are_refused() noexcept { return is_call_refused(); }

bool nowait_reads::install() noexcept {
  sqlite3_vfs* const files = sqlite3_vfs_find("unix");
  if (files == nullptr || files->iVersion < 3 || files->xSetSystemCall == nullptr) return false;
  const auto stand_in = reinterpret_cast<sqlite3_syscall_ptr>(&read_at);
  bool has_any = false;
  // It has one of the two, as it was built.
  for (const char* const name : {"pread", "pread64"})
    if (files->xGetSystemCall(files, name) != nullptr)
      has_any = files->xSetSystemCall(files, name, stand_in) == SQLITE_OK || has_any;
  return has_any;
}

}  // namespace weft::store::sqlite
