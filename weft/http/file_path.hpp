// From the path of a request to the file it names, and nowhere else.
//
// Problem: a path from outside may climb out of a folder, name what was hidden, end early, or go
// through a link. Contract: relative_file_path() checks each segment after decoding it: not empty,
// not "." or "..", no "/", "\", NUL or control character, at most 255 bytes; names that begin with
// a dot are hidden unless asked for, but for ".well-known" at the start (RFC 8615). open_beneath()
// then opens it under a folder, and the kernel holds the same line: openat2 with RESOLVE_BENEATH
// (Linux 5.6), or else one folder after the other, none of them through a link. Only regular files
// and folders are opened; a pipe or a device is not_found, and never waited for. Both block as long
// as the file system does: call open_beneath() from blocking(). Any thread.
//
//   std::string room;
//   auto path = http::relative_file_path("/css/site.css", {}, room);   // "css/site.css"
//   auto file = http::open_beneath(root_fd, *path, symlinks::refused);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/result.hpp>

namespace weft::http {

struct file_path_options {
  bool hidden_files = false;
};

// `path` is a request's in normal form; what stands behind its last "/" may be empty, for a folder.
// The view lies in `room`, which is overwritten; "." is the root itself. errc::not_found: a path
// that names no file here.
[[nodiscard]] result<std::string_view> relative_file_path(std::string_view path,
                                                          const file_path_options& options,
                                                          std::string& room);

enum class symlinks : std::uint8_t {
  refused,
  // Those that stay beneath the folder; where the kernel has no openat2: none.
  beneath,
};

// A file that is open, and what is known of it. Closes it, unless release() has given it away.
class open_file {
 public:
  open_file(open_file&& other) noexcept
      : fd_{std::exchange(other.fd_, -1)},
        size_bytes_{other.size_bytes_},
        modified_{other.modified_},
        is_folder_{other.is_folder_} {}
  open_file& operator=(open_file&&) = delete;
  ~open_file();

  [[nodiscard]] int descriptor() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  // Nanoseconds since 1970-01-01 00:00:00 UTC.
  [[nodiscard]] std::int64_t modified_ns() const noexcept { return modified_; }
  [[nodiscard]] bool is_folder() const noexcept { return is_folder_; }

 private:
  friend result<open_file> open_beneath(int, std::string_view, symlinks);
  friend result<open_file> walk_beneath(int, std::string_view);
  // Takes `fd`, which is neither a regular file nor a folder: errc::not_found.
  static result<open_file> take(int fd);
  explicit open_file(int fd) noexcept : fd_{fd} {}

  int fd_;
  std::uint64_t size_bytes_ = 0;
  std::int64_t modified_ = 0;
  bool is_folder_ = false;
};

// For reading. `path` is one that relative_file_path() gave, with or without a name or a suffix
// behind it, and `root` a folder's descriptor.
// errc::not_found: it is not there, or leads where it must not; errc::exhausted, errc::system: as
// the system says.
[[nodiscard]] result<open_file> open_beneath(int root, std::string_view path, symlinks allowed);

// What open_beneath() does on kernels without openat2: for its tests.
[[nodiscard]] result<open_file> walk_beneath(int root, std::string_view path);

}  // namespace weft::http
