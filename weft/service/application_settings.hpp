// What every application can be told, by its command line and in the sections [application],
// [realtime] and [log].
//
// Contract: holds what the program says until apply() has heard everybody else. One thread, before
// the shards start.
//
//   application_settings settings{{.threads = 4}};
//   settings.offer(cli);
//   if (auto code = cli.parse(argc, argv)) return *code;
//   for (const std::string& fault : settings.apply(cli, given)) complain(fault);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/bounds.hpp>
#include <weft/base/log.hpp>
#include <weft/base/time.hpp>
#include <weft/service/realtime_settings.hpp>
#include <weft/telemetry/log_format.hpp>

namespace weft {

class command_line;
class config;

namespace detail {

enum class backend_choice : std::uint8_t { auto_, io_uring, epoll };

/// As the section [application] has them.
struct application_section {
  unsigned threads = 1;
  backend_choice backend = backend_choice::auto_;
  std::string idle = "sleep";
  duration stop_timeout = std::chrono::seconds{10};
  duration stall_limit = std::chrono::milliseconds{100};
  /// What all shards together may hold for clients. 0: half of what the process may have
  /// (memory_limit.hpp).
  std::uint64_t memory_bytes = 0;

  // No sum of a time now and one of these overflows.
  static constexpr duration longest = std::chrono::hours{24};
  static constexpr unsigned threads_max = 1024;
  static constexpr std::uint64_t least_memory_bytes = std::uint64_t{16} * 1024 * 1024;
  static constexpr auto bounds() {
    return weft::bounds(at_most<&application_section::threads>(threads_max),
                        at_most<&application_section::stop_timeout>(longest),
                        at_most<&application_section::stall_limit>(longest));
  }
};

/// As the section [log] has them.
struct log_section {
  log::level level = log::level::info;  // of the whole program
  std::vector<std::string> levels{};    // of loggers: "http.server=debug"
  log_format format = log_format::auto_;
};

class application_settings {
 public:
  application_settings(application_section program, realtime_options shards, log::level level);
  application_settings(const application_settings&) = delete;
  application_settings& operator=(const application_settings&) = delete;
  ~application_settings() = default;

  /// Adds --threads and its like, --config, --set and --print-config. Both outlive this.
  void offer(command_line& cli, config& given);

  /// After the command line was parsed: reads the file it names, the environment and what the
  /// command line itself says into all that is bound. What is wrong, a line each; none: all is
  /// well.
  [[nodiscard]] std::vector<std::string> apply(const command_line& cli, config& given);

  [[nodiscard]] bool is_to_print() const noexcept { return prints_; }
  /// Whether the program is to end once its options have been read.
  [[nodiscard]] bool is_to_check() const noexcept { return checks_; }
  /// "dot" or "json": the services are to be printed so. Empty: they are not.
  [[nodiscard]] const std::string& graph() const noexcept { return graph_; }
  [[nodiscard]] const application_section& now() const noexcept { return section_; }
  [[nodiscard]] const realtime_options& realtime() const noexcept { return realtime_; }
  /// Whether lines are to be JSON wherever they go. After apply(), whatever that has found.
  [[nodiscard]] bool wants_json() const noexcept {
    return log_.format == log_format::json || log_format_ == "json";
  }
  /// From now on the log is as [log] says.
  void set_log() const;
  /// From now on the log is as [log] says by then, wherever that is from. What is wrong, a line
  /// each: then all is as it was. After apply().
  [[nodiscard]] std::vector<std::string> read_log_again(const command_line& cli);
  /// The backend's name, as parse_backend() takes it.
  [[nodiscard]] std::string backend() const;

 private:
  /// What is wrong with the sources themselves; empty: nothing.
  [[nodiscard]] std::string read_sources(const command_line& cli, config& given) const;
  [[nodiscard]] std::string wrong_value(const config& given) const;

  application_section section_;
  realtime_options realtime_;
  log_section log_;
  log::level program_level_;
  // Of the command line, which assigns them to the section; here they are what --help shows.
  unsigned threads_;
  std::string backend_;
  std::string idle_;
  unsigned stop_seconds_;
  std::string log_level_;
  std::string log_format_ = "auto";
  std::string file_;
  bool prints_ = false;
  bool checks_ = false;
  std::string graph_;
};

}  // namespace detail
}  // namespace weft
