#include <weft/base/read_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <weft/base/error.hpp>
#include <weft/base/format.hpp>

namespace weft {
namespace {

constexpr std::size_t piece_bytes = 4096;

class open_file {
 public:
  // A FIFO is open at once where nobody need write to it; a regular file is read as ever.
  explicit open_file(const std::string& path) noexcept
      : fd_{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)} {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

std::unexpected<std::string> reason(int number) {
  return std::unexpected{error::from_errno(number).message()};
}

std::string_view name_of(mode_t kind) noexcept {
  if (S_ISFIFO(kind)) return "a FIFO";
  return S_ISCHR(kind) || S_ISBLK(kind) ? "a device" : "something else";
}

}  // namespace

std::expected<std::string, std::string> read_file(const std::string& path, std::size_t bytes_max) {
  const open_file file{path};
  struct stat facts{};
  if (file.fd() < 0 || ::fstat(file.fd(), &facts) != 0) return reason(errno);
  if (S_ISDIR(facts.st_mode)) return reason(EISDIR);
  if (!S_ISREG(facts.st_mode))
    return std::unexpected{
        weft::format("it is {}: what is wanted is a regular file", name_of(facts.st_mode))};
  // A byte more than it says, so that its end is seen at once; those of /proc say nothing.
  const std::size_t told = static_cast<std::size_t>(facts.st_size) + 1;
  std::string text(std::min(std::max(told, piece_bytes), bytes_max + 1), '\0');
  std::size_t size = 0;
  for (;;) {
    const ssize_t bytes = ::read(file.fd(), text.data() + size, text.size() - size);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return reason(errno);
    size += static_cast<std::size_t>(bytes);
    if (bytes == 0 || size > bytes_max) break;
    if (size == text.size()) text.resize(std::min(2 * size, bytes_max + 1));
  }
  if (size > bytes_max)
    return std::unexpected{weft::format("{}: it may have {} bytes",
                                        error{errc::limit_exceeded, EFBIG}.message(), bytes_max)};
  text.resize(size);
  return text;
}

}  // namespace weft
