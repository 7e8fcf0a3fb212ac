#include <weft/telemetry/log_format.hpp>

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/log.hpp>
#include <weft/base/log_escape.hpp>

// What this file makes of spdlog's inline functions must not be taken for those of a program that
// has an spdlog of its own, of another version.
#define spdlog weft_own_spdlog
#include <spdlog/details/log_msg.h>
#include <spdlog/pattern_formatter.h>

namespace weft {
namespace {

constexpr std::array<spdlog::level::level_enum, 5> levels{spdlog::level::trace,
                                                          spdlog::level::debug, spdlog::level::info,
                                                          spdlog::level::warn, spdlog::level::err};

spdlog::string_view_t viewed(std::string_view text) noexcept { return {text.data(), text.size()}; }

void append(spdlog::memory_buf_t& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

/// The level in five letters, so that messages line up, in its colour.
template <bool Coloured>
class level_column final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& said, const std::tm&,
              spdlog::memory_buf_t& out) override {
    constexpr std::array<std::string_view, 5> columns{"trace", "debug", "info ", "warn ", "error"};
    // Dim, cyan, green, bold yellow, bold red.
    constexpr std::array<std::string_view, 5> colours{"\x1b[2m", "\x1b[36m", "\x1b[32m",
                                                      "\x1b[1;33m", "\x1b[1;31m"};
    const auto index = static_cast<std::size_t>(said.level);
    if (Coloured) append(out, colours[index]);
    append(out, columns[index]);
    if (Coloured) append(out, "\x1b[0m");
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<level_column>();
  }
};

/// The logger between two texts; nothing where none has spoken.
class logger_part final : public spdlog::custom_flag_formatter {
 public:
  logger_part(std::string_view before, std::string_view after) : before_{before}, after_{after} {}
  void format(const spdlog::details::log_msg& said, const std::tm&,
              spdlog::memory_buf_t& out) override {
    if (said.logger_name.size() == 0) return;
    append(out, before_);
    append(out, {said.logger_name.data(), said.logger_name.size()});
    append(out, after_);
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<logger_part>(before_, after_);
  }

 private:
  std::string_view before_;
  std::string_view after_;
};

struct pattern {
  std::string_view text;
  log::escaping escapes;
  std::string_view before_logger;
  std::string_view after_logger;
};

constexpr pattern pretty{"%Y-%m-%dT%H:%M:%S.%eZ %K %Q%v", log::escaping::plain, "", ": "};

constexpr pattern json{R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l"%Q,"message":"%v"})",
                       log::escaping::json, R"(,"logger":")", R"(")"};

/// A pattern made ready. The log uses it on one thread at a time.
class line_format {
 public:
  line_format(const pattern& how, std::unique_ptr<spdlog::custom_flag_formatter> level)
      : escapes_{how.escapes},
        formatter_{std::string{how.text}, spdlog::pattern_time_type::utc, "\n",
                   flags_of(how, std::move(level))} {}

  void append_line(const log::entry& said, std::string& out) {
    logger_.clear();
    message_.clear();
    log::append_escaped(logger_, said.logger, escapes_);
    log::append_escaped(message_, said.message, escapes_);
    const auto level = levels[static_cast<std::size_t>(said.at)];
    spdlog::memory_buf_t line;
    formatter_.format({viewed(logger_), level, viewed(message_)}, line);
    out.append(line.data(), line.size());
  }

 private:
  static spdlog::pattern_formatter::custom_flags flags_of(
      const pattern& how, std::unique_ptr<spdlog::custom_flag_formatter> level) {
    spdlog::pattern_formatter::custom_flags flags;
    flags['K'] = std::move(level);
    flags['Q'] = std::make_unique<logger_part>(how.before_logger, how.after_logger);
    return flags;
  }

  log::escaping escapes_;
  spdlog::pattern_formatter formatter_;
  std::string logger_;  // escaped
  std::string message_;
};

/// Made for the first line, and never destroyed: other static objects may log while they are.
template <const pattern& How, bool Coloured>
void append_line(const log::entry& said, std::string& out) {
  static line_format& format =
      *new line_format{How, std::make_unique<level_column<Coloured>>()};  // NOLINT: never destroyed
  format.append_line(said, out);
}

/// As terminals are told apart by most programs (no-color.org).
bool is_to_be_coloured() noexcept {
  const char* const no_colour = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::string_view{terminal} != "dumb");
}

}  // namespace

void use_log_format(log_format wanted) noexcept {
  const bool is_json =
      wanted == log_format::json || (wanted == log_format::auto_ && ::isatty(STDERR_FILENO) != 1);
  if (is_json)
    log::set_formatter(&append_line<json, false>);
  else
    log::set_formatter(is_to_be_coloured() ? &append_line<pretty, true>
                                           : &append_line<pretty, false>);
}

}  // namespace weft
