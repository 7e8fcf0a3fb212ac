#include "workload.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <format>
#include <string>
#include <thread>
#include <vector>

namespace weft::bench {
namespace {

constexpr double bytes_per_mb = 1e6;

std::expected<std::uint64_t, std::string> parse_number(std::string_view name, std::string_view text,
                                                       std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc{} && read.ptr == end && number >= least && number <= most) return number;
  return std::unexpected{
      std::format("'{}' for {}: give a number from {} to {}", text, name, least, most)};
}

std::string variant() {
#if defined(_LIBCPP_VERSION)
  const std::string_view library = "libc++";
#else
  const std::string_view library = "libstdc++";
#endif
  return std::string{library};
}

/// The most memory this process has had.
double peak_rss_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / bytes_per_mb;
}

std::string figures(std::string_view name, const workload_options& options,
                    const workload_share& done, double seconds) {
  const double rate = static_cast<double>(done.dispatched) / seconds;
  const double queue_mb = static_cast<double>(done.queue_bytes_max) / bytes_per_mb;
  if (options.json)
    return std::format(
        R"({{"workload": "{}", "variant": "{}", "threads": {}, "count": {}, "dispatched": {}, )"
        R"("seconds": {:.6f}, "rate_per_s": {:.4g}, "peak_rss_mb": {:.1f}, )"
        R"("queue_peak_mb": {:.2f}}})"
        "\n",
        name, variant(), options.threads, options.count, done.dispatched, seconds, rate,
        peak_rss_mb(), queue_mb);
  return std::format(
      "{}, {} threads: {} dispatched in {:.3f} s, {:.3g}/s, peak {:.1f} MB, queue {:.2f} MB\n",
      name, options.threads, done.dispatched, seconds, rate, peak_rss_mb(), queue_mb);
}

/// In a process of its own.
int run_phase(std::string_view name, workload_function work, const workload_options& options) {
  std::vector<workload_share> shares(options.threads);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < options.threads; ++i)
    threads.emplace_back([&, i] { shares[i] = work(options); });
  shares[0] = work(options);
  for (std::thread& each : threads) each.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;

  workload_share all;
  for (const workload_share& each : shares) {
    all.dispatched += each.dispatched;
    all.queue_bytes_max += each.queue_bytes_max;
    all.is_right = all.is_right && each.is_right;
  }
  const std::string line = figures(name, options, all, took.count());
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
  if (all.is_right && all.dispatched == options.count * options.threads) return 0;
  std::fprintf(stderr, "weft-bench: not all was dispatched, or not in order\n");
  return 1;
}

int run_in_process(std::string_view name, workload_function work, const workload_options& options) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    std::fprintf(stderr, "weft-bench: no process for this phase: %s\n", std::strerror(errno));
    return 1;
  }
  if (child == 0) ::_exit(run_phase(name, work, options));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

const std::string_view workload_help =
    R"(Usage: weft-bench coroutine|event [options]

  coroutine   an event published and told, a coroutine made and run and ended, and another one
              resumed, again and again
  event       events without data are published, all of them, and then told to nobody, in order

  --threads N    after one thread, N at once, each of which does the whole count (1)
  --count N      how often (5000000)
  --capacity N   event: the producer waits while N events are queued (it never does)
  --json         a line of JSON a phase
)";

std::expected<workload_options, std::string> parse_workload_options(
    std::span<const std::string_view> arguments) {
  workload_options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      return options;
    }
    if (name == "--json") {
      options.json = true;
      continue;
    }
    const bool is_known = name == "--threads" || name == "--count" || name == "--capacity";
    if (!is_known) return std::unexpected{std::format("unknown option '{}'", name)};
    if (i + 1 == arguments.size()) return std::unexpected{std::format("'{}' needs a value", name)};
    const std::uint64_t most = name == "--threads" ? 1024 : 1'000'000'000;
    const auto number = parse_number(name, arguments[++i], 1, most);
    if (!number) return std::unexpected{number.error()};
    if (name == "--threads") options.threads = static_cast<unsigned>(*number);
    if (name == "--count") options.count = *number;
    if (name == "--capacity") options.capacity = *number;
  }
  return options;
}

int run_workload(std::string_view name, workload_function work, const workload_options& options) {
  workload_options alone = options;
  alone.threads = 1;
  const int first = run_in_process(name, work, alone);
  if (first != 0 || options.threads == 1) return first;
  return run_in_process(name, work, options);
}

}  // namespace weft::bench
