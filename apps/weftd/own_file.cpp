#include <apps/weftd/own_file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <weft/base/format.hpp>

namespace weftd {
namespace {

std::string reason() { return std::generic_category().message(errno); }

std::string part_of(const std::string& path) { return path + ".part"; }

class descriptor {
 public:
  explicit descriptor(int fd) noexcept : fd_{fd} {}
  descriptor(descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// What there is, and is no regular file; nothing: there is one, or none.
std::optional<std::string> obstacle_at(const std::string& path) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode)) return std::nullopt;
  const char* const what = S_ISLNK(facts.st_mode)    ? "a symbolic link, which is not followed"
                           : S_ISFIFO(facts.st_mode) ? "a FIFO"
                           : S_ISDIR(facts.st_mode)  ? "a folder"
                                                     : "no regular file";
  return weft::format("{} is {}: take it away, or name another file", path, what);
}

/// Takes away what a program that was killed has left. Else why it stays.
std::optional<std::string> remove_left(const std::string& part) {
  if (auto obstacle = obstacle_at(part)) return obstacle;
  const descriptor left{
      ::open(part.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  if (left.get() >= 0 && ::flock(left.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return weft::format("{} is written by another program: wait for it, or name another file",
                        part);
  if (::unlink(part.c_str()) == 0 || errno == ENOENT) return std::nullopt;
  return weft::format("{} cannot be replaced: {}", part, reason());
}

std::expected<descriptor, std::string> open_part(const std::string& path) {
  constexpr int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
  constexpr mode_t as_the_mask_has_it = 0666;
  const std::string part = part_of(path);
  int fd = ::open(part.c_str(), how, as_the_mask_has_it);
  if (fd < 0 && errno == EEXIST) {
    if (auto why = remove_left(part)) return std::unexpected{std::move(*why)};
    fd = ::open(part.c_str(), how, as_the_mask_has_it);
  }
  if (fd < 0) return std::unexpected{weft::format("{} cannot be written: {}", part, reason())};
  // Where the file system knows no locks, nobody else is seen.
  static_cast<void>(::flock(fd, LOCK_EX | LOCK_NB));
  return descriptor{fd};
}

/// So that the file has its name after a power cut.
bool sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path{path}.parent_path().string();
  const descriptor opened{
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  // Some file systems know no such thing.
  return opened.get() >= 0 && (::fsync(opened.get()) == 0 || errno == EINVAL);
}

}  // namespace

std::expected<new_file, std::string> new_file::create(std::string path) {
  auto opened = open_part(path);
  if (!opened) return std::unexpected{std::move(opened.error())};
  struct stat before{};
  if (::lstat(path.c_str(), &before) == 0 && S_ISREG(before.st_mode))
    static_cast<void>(::fchmod(opened->get(), before.st_mode & 07777));  // else as it is
  std::FILE* const stream = ::fdopen(opened->get(), "w");
  if (stream == nullptr) {
    const std::string why = reason();
    static_cast<void>(::unlink(part_of(path).c_str()));  // `why` is the error that counts
    return std::unexpected{weft::format("{} cannot be written: {}", path, why)};
  }
  static_cast<void>(opened->release());
  return new_file{std::move(path), stream};
}

new_file::~new_file() {
  // What stays is removed by the next program that writes the file.
  if (stream_ != nullptr) static_cast<void>(::unlink(part_of(path_).c_str()));
}

std::expected<void, std::string> new_file::finish(durable how) {
  const bool is_durable = how == durable::yes;
  const bool is_written = std::fflush(stream_.get()) == 0 && std::ferror(stream_.get()) == 0 &&
                          (!is_durable || ::fsync(::fileno(stream_.get())) == 0);
  if (!is_written || ::rename(part_of(path_).c_str(), path_.c_str()) != 0)
    return std::unexpected{weft::format("{} cannot be written: {}", path_, reason())};
  stream_.reset();
  if (!is_durable || sync_folder_of(path_)) return {};
  return std::unexpected{weft::format("{} cannot be written: {}", path_, reason())};
}

std::expected<void, std::string> make_part(const std::string& path) {
  const auto opened = open_part(path);
  if (!opened) return std::unexpected{opened.error()};
  return {};
}

std::expected<std::optional<std::string>, std::string> read_own_file(const std::string& path,
                                                                     std::size_t bytes_max) {
  const descriptor file{
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  if (file.get() < 0 && errno == ENOENT) return std::nullopt;
  if (auto obstacle = obstacle_at(path)) return std::unexpected{std::move(*obstacle)};
  struct stat facts{};
  if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) return std::unexpected{reason()};
  if (!S_ISREG(facts.st_mode)) return std::unexpected{std::string{"it is no regular file"}};
  std::string text(bytes_max + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t bytes = ::read(file.get(), text.data() + size, text.size() - size);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return std::unexpected{reason()};
    if (bytes == 0) break;
    size += static_cast<std::size_t>(bytes);
  }
  if (size > bytes_max)
    return std::unexpected{weft::format("it has more than {} bytes", bytes_max)};
  text.resize(size);
  return text;
}

}  // namespace weftd
