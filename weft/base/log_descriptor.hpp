// Lines to a descriptor that may be slow, or closed, without waiting for it. Internal to log.
//
// Problem: stderr belongs to whoever started the program. A pipe that nobody reads, and a terminal
// that is held by Ctrl-S, would keep a loop for as long as they like, and to make stderr itself
// non-blocking would change it for everybody who shares it. Contract: a pipe or a terminal is
// opened once more, without blocking; a socket is sent to without blocking; files are written as
// they are. Where it cannot be opened (another user's), it is asked by poll(2) before each part. No
// line is begun before the last one is whole. Follows the descriptor when that becomes another
// file. Not thread safe; raises SIGPIPE as write(2) does.
//
//   log_descriptor to{STDERR_FILENO};
//   if (!to.write("a line\n")) ++lost;
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::log::detail {

class log_descriptor {
 public:
  explicit log_descriptor(int descriptor) noexcept : descriptor_{descriptor} {}
  log_descriptor(const log_descriptor&) = delete;
  log_descriptor& operator=(const log_descriptor&) = delete;
  ~log_descriptor();

  /// False: nothing of the line was taken, nor will be.
  [[nodiscard]] bool write(std::string_view line) noexcept;

 private:
  enum class way : std::uint8_t { closed, plain, by_socket, after_poll };

  void look() noexcept;
  void leave() noexcept;
  void reopen() noexcept;
  [[nodiscard]] ssize_t write_part(std::string_view part) const noexcept;
  [[nodiscard]] std::string_view write_some(std::string_view text) noexcept;

  int descriptor_;
  int own_ = -1;  // opened here
  way how_ = way::closed;
  // Which file it is.
  dev_t device_ = 0;
  ino_t file_ = 0;
  std::string rest_;  // of the line that was taken in part
};

}  // namespace weft::log::detail
