#include <weft/realtime/kernel_file.hpp>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>

namespace weft::realtime {
namespace {

std::optional<std::int64_t> number_at(std::string_view text) noexcept {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{}) return std::nullopt;
  return number;
}

/// Until `see` wants no more of them.
template <class F>
void for_each_line(int file, F see) noexcept {
  std::array<char, 4096> room;
  std::size_t size = 0;
  for (;;) {
    const auto more = ::read(file, room.data() + size, room.size() - size);
    if (more <= 0) return;
    std::string_view text{room.data(), size + static_cast<std::size_t>(more)};
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      if (!see(text.substr(0, end))) return;
      text.remove_prefix(end + 1);
    }
    size = text.size() == room.size() ? 0 : text.size();
    std::memmove(room.data(), text.data(), size);
  }
}

}  // namespace

std::optional<std::int64_t> number_in(const char* path) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 32> text{};
  const auto size = ::read(file, text.data(), text.size());
  ::close(file);
  if (size <= 0) return std::nullopt;
  return number_at({text.data(), static_cast<std::size_t>(size)});
}

std::optional<std::int64_t> number_behind(const char* path, std::string_view heading,
                                          std::string_view name) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::optional<std::int64_t> found;
  bool is_below = false;
  for_each_line(file, [&](std::string_view line) {
    is_below = is_below || line == heading;
    if (!is_below || !line.starts_with(name)) return true;
    found = number_at(line.substr(name.size()));
    return false;
  });
  ::close(file);
  return found;
}

bool has_option(const char* path, std::string_view line) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file{::gzopen(path, "rbe"), &::gzclose};
  if (file == nullptr) return false;
  std::string text;
  std::array<char, 4096> part{};
  const auto read = [&] {
    return ::gzread(file.get(), part.data(), static_cast<unsigned>(part.size()));
  };
  for (int size = read(); size > 0; size = read())
    text.append(part.data(), static_cast<std::size_t>(size));
  text += '\n';
  return text.contains('\n' + std::string{line} + '\n');
}

}  // namespace weft::realtime
