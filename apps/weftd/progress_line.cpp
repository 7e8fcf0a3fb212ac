#include <apps/weftd/progress_line.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <weft/base/format.hpp>

namespace weftd {
namespace {

constexpr auto interval = std::chrono::milliseconds{200};
constexpr std::size_t bar_width = 24;
constexpr const char* to_line_start = "\r\x1b[K";  // and nothing is left of the line (ECMA-48 EL)

bool is_terminal() {
  const char* const kind = std::getenv("TERM");
  const bool is_dumb = kind == nullptr || std::string_view{kind} == "dumb";
  return ::isatty(STDERR_FILENO) == 1 && !is_dumb;
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string text = weft::format("{}", number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string progress_text(const progress& now, std::string_view what,
                          std::chrono::nanoseconds elapsed) {
  const double seconds = std::max(std::chrono::duration<double>{elapsed}.count(), 1e-3);
  std::string text;
  double part = 0;
  if (now.all != 0) {
    part = std::min(static_cast<double>(now.done) / static_cast<double>(now.all), 1.0);
    const auto full = static_cast<std::size_t>(part * bar_width);
    text = weft::format("[{}{}] {} %  ", std::string(full, '#'), std::string(bar_width - full, '.'),
                        static_cast<int>(part * 100));
  }
  text +=
      weft::format("{} {}  {}/s", grouped(now.count), what,
                   grouped(static_cast<std::uint64_t>(static_cast<double>(now.count) / seconds)));
  if (part > 0)
    text += weft::format(
        "  {} s left", grouped(static_cast<std::uint64_t>(std::ceil(seconds * (1 - part) / part))));
  return text;
}

progress_line::progress_line(std::string_view what)
    : what_{what}, is_terminal_{is_terminal()}, next_{began_ + interval} {}

void progress_line::show(const progress& now) {
  if (!is_terminal_) return;
  const auto time = std::chrono::steady_clock::now();
  if (time < next_) return;
  next_ = time + interval;
  is_shown_ = true;
  std::fputs((to_line_start + progress_text(now, what_, time - began_)).c_str(), stderr);
  std::fflush(stderr);
}

void progress_line::clear() {
  if (!is_shown_) return;
  is_shown_ = false;
  std::fputs(to_line_start, stderr);
  std::fflush(stderr);
}

}  // namespace weftd
