#include <weft/realtime/kernel_file.hpp>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <system_error>

namespace weft::realtime {

std::optional<std::int64_t> number_in(const char* path) noexcept {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 32> text{};
  const auto size = ::read(file, text.data(), text.size());
  ::close(file);
  if (size <= 0) return std::nullopt;
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + size, number);
  if (read.ec != std::errc{}) return std::nullopt;
  return number;
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
