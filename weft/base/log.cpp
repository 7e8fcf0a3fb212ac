#include <weft/base/log.hpp>

#include <weft/base/assert.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>

namespace weft::log {

namespace {

constexpr std::array<std::string_view, 6> names = {"trace",   "debug", "info",
                                                   "warning", "error", "off"};

// As printed: one width, so that messages line up.
constexpr std::array<std::string_view, 5> columns = {"trace", "debug", "info ", "warn ", "error"};

constexpr std::size_t unallocated_bytes = 1024;
constexpr std::size_t header_bytes = sizeof("2026-11-21T10:00:00.123Z info  ") - 1;
constexpr std::size_t longest_escape = sizeof("\\x1b") - 1;

constexpr std::size_t line_bytes(std::size_t message_bytes) noexcept {
  return header_bytes + message_bytes * longest_escape + 1;
}

constinit std::atomic<level> lowest_level = level::info;

// The user's sink. Writers hold the lock shared while they are inside it, so that taking the lock
// for a change waits for them. They queue for it at `turnstile`, which a change holds while it
// waits: some shared mutexes (glibc's) let readers pass it for ever. `has_target` lets the default
// sink, the usual one, go without either.
struct sink_slot {
  std::mutex turnstile;
  std::shared_mutex lock;
  sink target = nullptr;
  void* context = nullptr;
  std::atomic<bool> has_target = false;
};

// Never destroyed: other static objects may log while they are.
sink_slot& user_sink() noexcept {
  alignas(sink_slot) static std::byte storage[sizeof(sink_slot)];
  static sink_slot* const slot = ::new (static_cast<void*>(storage)) sink_slot;
  return *slot;
}

std::shared_lock<std::shared_mutex> lock_for_writing(sink_slot& slot) noexcept {
  const std::lock_guard turn(slot.turnstile);
  return std::shared_lock(slot.lock);
}

constinit thread_local bool inside_sink = false;

char* append(char* out, std::string_view text) noexcept {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

char* append_number(char* out, unsigned value, int digits) noexcept {
  for (int i = digits - 1; i >= 0; --i, value /= 10) {
    out[i] = static_cast<char>('0' + value % 10);
  }
  return out + digits;
}

char* append_time(char* out) noexcept {
  using namespace std::chrono;
  const auto now = floor<milliseconds>(system_clock::now());
  const auto day = floor<days>(now);
  const year_month_day date = day;
  const hh_mm_ss time(now - day);
  out = append_number(out, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  out = append_number(append(out, "-"), static_cast<unsigned>(date.month()), 2);
  out = append_number(append(out, "-"), static_cast<unsigned>(date.day()), 2);
  out = append_number(append(out, "T"), static_cast<unsigned>(time.hours().count()), 2);
  out = append_number(append(out, ":"), static_cast<unsigned>(time.minutes().count()), 2);
  out = append_number(append(out, ":"), static_cast<unsigned>(time.seconds().count()), 2);
  out = append_number(append(out, "."), static_cast<unsigned>(time.subseconds().count()), 3);
  return append(out, "Z");
}

char* append_escaped(char* out, std::string_view message) noexcept {
  constexpr std::string_view hexadecimal = "0123456789abcdef";
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      *out++ = c;
    } else if (c == '\n') {
      out = append(out, "\\n");
    } else {
      out = append(out, "\\x");
      *out++ = hexadecimal[byte / 16];
      *out++ = hexadecimal[byte % 16];
    }
  }
  return out;
}

// The lines of several threads do not mix: each is one write, which the kernel keeps whole on a
// terminal or an appended file, and on a pipe up to PIPE_BUF. A line that stderr does not take now
// is lost; waiting would stop the program for its own log.
void write_to_stderr(const char* line, std::size_t length) noexcept {
  while (length > 0) {
    const auto written = ::write(STDERR_FILENO, line, length);
    if (written < 0) {
      if (errno == EINTR) continue;
      return;
    }
    line += written;
    length -= static_cast<std::size_t>(written);
  }
}

void default_sink(level at, std::string_view message) noexcept {
  std::array<char, line_bytes(unallocated_bytes)> small;
  std::unique_ptr<char[]> large;
  char* line = small.data();
  if (message.size() > unallocated_bytes) {
    large.reset(new (std::nothrow) char[line_bytes(message.size())]);
    if (large != nullptr) {
      line = large.get();
    } else {
      message =
          message.substr(0, unallocated_bytes);  // out of memory: the beginning is what counts
    }
  }
  char* end = append(append_time(line), " ");
  end = append(append(end, columns[static_cast<std::size_t>(at)]), " ");
  end = append(append_escaped(end, message), "\n");
  write_to_stderr(line, static_cast<std::size_t>(end - line));
}

}  // namespace

void set_level(level lowest) noexcept { lowest_level.store(lowest, std::memory_order_relaxed); }

level current_level() noexcept { return lowest_level.load(std::memory_order_relaxed); }

bool enabled(level at) noexcept { return at >= current_level() && at != level::off; }

void set_sink(sink target, void* context) noexcept {
  WEFT_ASSERT(!inside_sink, "a sink cannot replace the sink: it would wait for itself");
  sink_slot& slot = user_sink();
  const std::lock_guard turn(slot.turnstile);
  const std::lock_guard exclusive(slot.lock);
  slot.target = target;
  slot.context = context;
  slot.has_target.store(target != nullptr, std::memory_order_release);
}

void write(level at, std::string_view message) noexcept {
  WEFT_DEBUG_ASSERT(at != level::off, "off is a threshold, not the level of a message");
  if (!enabled(at)) return;
  const int errno_before = errno;
  sink_slot& slot = user_sink();
  if (inside_sink || !slot.has_target.load(std::memory_order_acquire)) {
    default_sink(at, message);
  } else {
    const auto shared = lock_for_writing(slot);
    if (slot.target == nullptr) {  // replaced meanwhile
      default_sink(at, message);
    } else {
      inside_sink = true;
      slot.target(at, message, slot.context);
      inside_sink = false;
    }
  }
  errno = errno_before;
}

std::string_view to_string(level at) noexcept { return names[static_cast<std::size_t>(at)]; }

result<level> parse_level(std::string_view name) noexcept {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<level>(i);
  }
  return fail(errc::invalid_argument);
}

}  // namespace weft::log
