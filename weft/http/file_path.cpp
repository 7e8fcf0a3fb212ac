#include <weft/http/file_path.hpp>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>

#include <weft/base/assert.hpp>
#include <weft/http/scan.hpp>

namespace weft::http {
namespace {

constexpr std::size_t name_bytes_max = 255;   // NAME_MAX of Linux
constexpr std::size_t path_bytes_max = 4095;  // PATH_MAX without its NUL
// Nonblocking: to open a pipe would wait for its writer.
constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

bool is_harmless(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte != 0x7f && byte != '/' && byte != '\\';
}

// Appends what a segment means; false where that is no name.
bool append_segment(std::string_view segment, std::string& out) {
  const std::size_t begin = out.size();
  for (std::size_t i = 0; i < segment.size(); ++i) {
    char byte = segment[i];
    if (byte == '%') {
      const auto meant = scan::escaped_byte(segment, i);
      if (!meant) return false;
      byte = *meant;
      i += 2;
    }
    if (!is_harmless(byte)) return false;
    out.push_back(byte);
  }
  const std::string_view name = std::string_view{out}.substr(begin);
  return !name.empty() && name.size() <= name_bytes_max && name != "." && name != "..";
}

// As if it were not there: the client learns nothing of what lies elsewhere.
error hidden(int code) noexcept {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case EXDEV:
    case EACCES:
    case EPERM:
    case ENXIO:
    case ENODEV:
    case ENAMETOOLONG: return {errc::not_found, code};
    default: return error::from_errno(code);
  }
}

// A path as the system wants it: with a NUL at its end.
class system_path {
 public:
  explicit system_path(std::string_view path) noexcept {
    WEFT_ASSERT(path.size() < text_.size(), "paths that are too long are to be refused before");
    path.copy(text_.data(), path.size());
    text_[path.size()] = '\0';
  }
  [[nodiscard]] const char* text() const noexcept { return text_.data(); }

 private:
  std::array<char, path_bytes_max + 1> text_;
};

int open_at(int folder, std::string_view path, int flags) noexcept {
  return ::openat(folder, system_path{path}.text(), flags | O_NOFOLLOW);
}

// Some file systems have times beyond the year 2262.
std::int64_t nanoseconds_of(const timespec& time) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / second - 1;
  return std::clamp<std::int64_t>(time.tv_sec, -most, most) * second + time.tv_nsec;
}

}  // namespace

result<std::string_view> relative_file_path(std::string_view path, const file_path_options& options,
                                            std::string& room) {
  room.clear();
  if (!path.starts_with('/')) return fail(errc::not_found);
  bool is_first = true;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    if (segment.empty() && path.empty()) break;  // a folder
    if (!room.empty()) room.push_back('/');
    const std::size_t begin = room.size();
    if (!append_segment(segment, room) || room.size() > path_bytes_max)
      return fail(errc::not_found);
    const std::string_view name = std::string_view{room}.substr(begin);
    const bool is_hidden = name.front() == '.' && !(is_first && name == ".well-known");
    if (is_hidden && !options.hidden_files) return fail(errc::not_found);
    is_first = false;
  }
  if (room.empty()) room.push_back('.');
  return room;
}

open_file::~open_file() {
  if (fd_ >= 0) ::close(fd_);
}

result<open_file> open_file::take(int fd) {
  open_file taken{fd};
  struct stat found{};
  if (::fstat(fd, &found) != 0) return fail(error::from_errno(errno));
  if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) return fail(errc::not_found);
  // It was not to wait for a writer; whoever reads what the kernel must fetch is to wait.
  if (::fcntl(fd, F_SETFL, 0) != 0) return fail(error::from_errno(errno));
  taken.is_folder_ = S_ISDIR(found.st_mode);
  taken.size_bytes_ = static_cast<std::uint64_t>(found.st_size);
  taken.modified_ = nanoseconds_of(found.st_mtim);
  return taken;
}

result<open_file> walk_beneath(int root, std::string_view path) {
  int folder = root;
  for (;;) {
    const std::size_t slash = path.find('/');
    const bool is_last = slash == std::string_view::npos;
    const std::string_view name = path.substr(0, slash);
    const int flags = is_last ? read_flags : O_PATH | O_DIRECTORY | O_CLOEXEC;
    const int opened = name == ".." ? -1 : open_at(folder, name, flags);
    const int code = name == ".." ? ENOENT : errno;
    if (folder != root) ::close(folder);
    if (opened < 0) return fail(hidden(code));
    if (is_last) return open_file::take(opened);
    folder = opened;
    path.remove_prefix(slash + 1);
  }
}

result<open_file> open_beneath(int root, std::string_view path, symlinks allowed) {
  if (path.size() > path_bytes_max) return fail(errc::not_found);
  open_how how{};
  how.flags = read_flags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (allowed == symlinks::refused) how.resolve |= RESOLVE_NO_SYMLINKS;
  const system_path name{path};
  // EAGAIN: something was renamed on the way, so that the kernel could not be sure (openat2(2)).
  for (int attempts_left = 8;; --attempts_left) {
    const auto opened =
        static_cast<int>(::syscall(SYS_openat2, root, name.text(), &how, sizeof how));
    if (opened >= 0) return open_file::take(opened);
    // Kernels that do not know it, and containers that do not let it through.
    if (errno == ENOSYS || errno == EPERM) return walk_beneath(root, path);
    if (errno != EAGAIN || attempts_left == 0) return fail(hidden(errno));
  }
}

}  // namespace weft::http
