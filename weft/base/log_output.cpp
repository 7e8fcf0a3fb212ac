#include <weft/base/log_output.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <new>
#include <string_view>

#include <weft/base/log_escape.hpp>

namespace weft::log::detail {
namespace {

// As printed: one width, so that messages line up.
constexpr std::array<std::string_view, 5> columns = {"trace", "debug", "info ", "warn ", "error"};

constexpr std::size_t unallocated_bytes = 1024;
constexpr std::size_t longest_escape = sizeof("\\x1b") - 1;
constexpr std::size_t kept_bytes = (unallocated_bytes + 64) * longest_escape;
constexpr std::size_t kept_bytes_max = std::size_t{64} * 1024;

void append_number(std::string& out, unsigned value, int digits) {
  std::array<char, 4> text{};
  for (int i = digits - 1; i >= 0; --i, value /= 10)
    text[static_cast<std::size_t>(i)] = static_cast<char>('0' + value % 10);
  out.append(text.data(), static_cast<std::size_t>(digits));
}

void append_time(std::string& out) {
  using namespace std::chrono;
  const auto now = floor<milliseconds>(system_clock::now());
  const auto day = floor<days>(now);
  const year_month_day date = day;
  const hh_mm_ss time(now - day);
  append_number(out, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  append_number(out += '-', static_cast<unsigned>(date.month()), 2);
  append_number(out += '-', static_cast<unsigned>(date.day()), 2);
  append_number(out += 'T', static_cast<unsigned>(time.hours().count()), 2);
  append_number(out += ':', static_cast<unsigned>(time.minutes().count()), 2);
  append_number(out += ':', static_cast<unsigned>(time.seconds().count()), 2);
  append_number(out += '.', static_cast<unsigned>(time.subseconds().count()), 3);
  out += 'Z';
}

void append_plain_line(const entry& said, std::string& out) {
  append_time(out);
  out += ' ';
  out += columns[static_cast<std::size_t>(said.at)];
  out += ' ';
  if (!said.logger.empty()) {
    append_escaped(out, said.logger, escaping::plain);
    out += ": ";
  }
  append_escaped(out, said.message, escaping::plain);
  out += '\n';
}

}  // namespace

log_output& log_output::to_stderr() noexcept {
  alignas(log_output) static std::byte storage[sizeof(log_output)];
  static log_output* const output = ::new (static_cast<void*>(storage)) log_output;
  return *output;
}

log_output::log_output() noexcept : look_{&append_plain_line} { trim(); }

void log_output::set_formatter(formatter look) noexcept {
  const std::lock_guard held{lock_};
  look_ = look == nullptr ? &append_plain_line : look;
}

void log_output::write(const entry& said) noexcept {
  const std::lock_guard held{lock_};
  if (tell_losses()) {
    format(said);
    if (!line_.empty() && stderr_.write(line_)) return;
  }
  lost_.fetch_add(1, std::memory_order_relaxed);
}

/// False: stderr does not take that either.
bool log_output::tell_losses() noexcept {
  const std::uint64_t untold = lost() - told_;
  if (untold == 0) return true;
  const std::string_view what = untold == 1
                                    ? " line of the log was lost: stderr did not take it"
                                    : " lines of the log were lost: stderr did not take them";
  std::array<char, 80> text{};
  char* const digits_end = std::to_chars(text.begin(), text.end(), untold).ptr;
  const std::string_view message{text.begin(), digits_end + what.copy(digits_end, what.size())};
  format({level::warning, {}, message});
  if (line_.empty() || !stderr_.write(line_)) return false;
  told_ += untold;
  return true;
}

/// Into line_; empty if there is no memory even for its beginning.
void log_output::format(const entry& said) noexcept {
  trim();
  try {
    look_(said, line_);
    return;
  } catch (...) {
    line_.clear();
  }
  try {
    append_plain_line({said.at, {}, said.message.substr(0, unallocated_bytes)}, line_);
  } catch (const std::bad_alloc&) {
    line_.clear();
  }
}

/// A long line is not to keep its memory.
void log_output::trim() noexcept {
  line_.clear();
  try {
    if (line_.capacity() > kept_bytes_max) line_ = {};
    line_.reserve(kept_bytes);
  } catch (const std::bad_alloc&) {
    return;  // the next line tries again
  }
}

}  // namespace weft::log::detail
