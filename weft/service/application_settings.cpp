#include <weft/service/application_settings.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <weft/base/format.hpp>
#include <weft/base/log_levels.hpp>
#include <weft/loop/idle_policy.hpp>
#include <weft/service/command_line.hpp>
#include <weft/service/config.hpp>
#include <weft/service/config_text.hpp>

namespace weft::detail {
namespace {

unsigned whole_seconds(duration length) {
  return static_cast<unsigned>(std::chrono::ceil<std::chrono::seconds>(length).count());
}

std::string wrong_idle(const std::string& text) {
  const auto idle = parse_idle(text);
  return idle ? std::string{} : idle.error();
}

/// No sum of a time now and one of these overflows.
application_section bounded(application_section given) {
  given.stop_timeout = std::min(given.stop_timeout, application_section::longest);
  given.stall_limit = std::min(given.stall_limit, application_section::longest);
  return given;
}

struct named_level {
  std::string_view name;
  log::level lowest;
};

/// "http.server=debug".
std::optional<named_level> parse_named_level(std::string_view text) noexcept {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  const auto lowest = log::parse_level(text.substr(equals + 1));
  if (!lowest) return std::nullopt;
  return named_level{text.substr(0, equals), *lowest};
}

std::string wrong_levels(const log_section& section, const config& given) {
  const auto said = [&given](const std::string& what) {
    return weft::format("{}: {}", given.origin_of("log.levels"), what);
  };
  if (section.levels.size() > log::named_levels_max)
    return said(weft::format("log.levels has {} names, more than {}", section.levels.size(),
                             log::named_levels_max));
  for (const std::string& each : section.levels)
    if (!parse_named_level(each))
      return said(
          weft::format("log.levels is a list of NAME=LEVEL, such as \"http.server=debug\" (trace, "
                       "debug, info, warning, error, off), not {}",
                       detail::quoted(each)));
  return {};
}

/// Where one of the first three is closed, a socket would take its number, and be sent the log.
void keep_standard_descriptors() noexcept {
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    // Where there is no /dev/null the number stays as free as it was given.
    if (::fcntl(each, F_GETFD) < 0) std::ignore = ::open("/dev/null", O_RDWR);
}

}  // namespace

application_settings::application_settings(application_section program, realtime_options shards,
                                           log::level level)
    : section_{bounded(std::move(program))},
      realtime_{std::move(shards)},
      log_{.level = level},
      program_level_{level},
      threads_{section_.threads},
      backend_{backend()},
      idle_{section_.idle},
      stop_seconds_{whole_seconds(section_.stop_timeout)},
      log_level_{log::to_string(log_.level)} {}

std::string application_settings::backend() const {
  switch (section_.backend) {
    case backend_choice::auto_: return "auto";
    case backend_choice::io_uring: return "io_uring";
    case backend_choice::epoll: break;
  }
  return "epoll";
}

void application_settings::offer(command_line& cli, config& given) {
  given.bind("application", section_);
  given.bind("realtime", realtime_);
  given.bind("log", log_);
  cli.option("--threads", threads_, "Shards, each a thread with its own event loop; 0: one a CPU",
             "N", application_section::threads_max);
  cli.choice("--backend", backend_, {"auto", "io_uring", "epoll"}, "How to speak to the kernel");
  cli.option("--idle", idle_,
             "When there is nothing to do: sleep; spin=50us: poll so long, then sleep; spin: poll",
             "HOW", &wrong_idle);
  cli.option("--stop-timeout", stop_seconds_,
             "After a signal: how long to finish what is under way before it is cut", "SECONDS",
             whole_seconds(application_section::longest));
  cli.choice("--log-level", log_level_, {"trace", "debug", "info", "warning", "error", "off"},
             "The least severe messages to print");
  cli.choice("--log-format", log_format_, {"auto", "pretty", "json"},
             "How: pretty for people, JSON lines for programs; auto: pretty on a terminal");
  cli.option("--config", file_, "Read the options of all services from a TOML file", "FILE");
  cli.stands_for("--threads", "application.threads");
  cli.stands_for("--backend", "application.backend");
  cli.stands_for("--idle", "application.idle");
  cli.stands_for("--stop-timeout", "application.stop_timeout", "s");
  cli.stands_for("--log-level", "log.level");
  cli.stands_for("--log-format", "log.format");
  cli.accept_assignments();
  cli.flag("--check-config", checks_, "Say what is wrong with the options, if anything, and end");
  cli.flag("--print-config", prints_,
           "Print all options as a TOML file, with the origin of each, and end");
  cli.choice("--print-graph", graph_, {"dot", "json"},
             "Print the services and who needs whom, without making any, and end");
}

std::vector<std::string> application_settings::apply(const command_line& cli, config& given) {
  if (std::string wrong = read_sources(cli, given); !wrong.empty()) return {std::move(wrong)};
  auto faults = given.apply();
  for (auto wrong :
       {wrong_value(given), wrong_together(realtime_, given), wrong_levels(log_, given)})
    if (!wrong.empty()) faults.push_back(std::move(wrong));
  return faults;
}

std::string application_settings::read_sources(const command_line& cli, config& given) const {
  if (!file_.empty())
    if (auto read = given.read_file(file_); !read) return std::move(read).error();
  given.read_environment(environ);
  for (const auto& [text, name] : cli.assignments())
    if (!given.assign(text, name)) return weft::format("'{}' is no SECTION.KEY=VALUE", text);
  return {};
}

std::vector<std::string> application_settings::read_log_again(const command_line& cli) {
  log_section again{.level = program_level_};
  config given;
  given.bind("log", again);
  if (std::string wrong = read_sources(cli, given); !wrong.empty()) return {std::move(wrong)};
  auto faults = given.apply(unknown_sections::pass_over);
  if (auto wrong = wrong_levels(again, given); !wrong.empty()) faults.push_back(std::move(wrong));
  if (!faults.empty()) return faults;
  log_ = std::move(again);
  log::forget_named_levels();
  set_log();
  return {};
}

std::string application_settings::wrong_value(const config& given) const {
  const auto said = [&given](const char* name, const std::string& what) {
    const std::string path = weft::format("application.{}", name);
    return weft::format("{}: {}: {}", given.origin_of(path), path, what);
  };
  if (section_.memory_bytes != 0 && section_.memory_bytes < application_section::least_memory_bytes)
    return said("memory_bytes",
                weft::format("{} is too little: at least 16 MiB, or 0 for half of what the process "
                             "may have",
                             section_.memory_bytes));
  const std::string idle = wrong_idle(section_.idle);
  return idle.empty() ? idle : said("idle", idle);
}

void application_settings::set_log() const {
  keep_standard_descriptors();
  use_log_format(log_.format);
  log::set_level(log_.level);
  for (const std::string& each : log_.levels) {
    const auto named = parse_named_level(each);
    if (named && !log::set_level(named->name, named->lowest))
      log::warning(weft::format("{} is not heard: too many loggers have levels", each));
  }
}

}  // namespace weft::detail
