#include <weft/realtime/queue_wait.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace weft::realtime {

queue_wait::queue_wait() noexcept
    : file_{::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)} {}

queue_wait::~queue_wait() {
  if (file_ >= 0) ::close(file_);
}

/// The line is "ran waited times": a thread that asks has had the processor once at least, where
/// that is counted.
std::optional<duration> queue_wait::so_far() const noexcept {
  std::array<char, 96> text{};
  const auto size = file_ < 0 ? 0 : ::pread(file_, text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  std::array<std::int64_t, 3> numbers{};
  const char* at = text.data();
  const char* const end = at + size;
  for (std::int64_t& each : numbers) {
    const auto read = std::from_chars(at, end, each);
    if (read.ec != std::errc{} || read.ptr == end) return std::nullopt;
    at = read.ptr + 1;
  }
  const std::int64_t times = numbers[2];
  if (times == 0) return std::nullopt;
  return duration{numbers[1]};
}

}  // namespace weft::realtime
