#include "wakeup_run.hpp"

#include <sys/wait.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

#include <weft/base/format.hpp>

namespace weft::bench {
namespace {

constexpr std::uint64_t ns_in_us = 1000;

std::optional<std::uint64_t> number(std::string_view text) noexcept {
  std::uint64_t found = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), found);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return found;
}

/// The number behind `name` in a line that begins with it.
std::optional<std::uint64_t> number_behind(std::string_view name, std::string_view line) noexcept {
  if (!line.starts_with(name)) return std::nullopt;
  return number(line.substr(name.size()));
}

void record_often(telemetry::distribution& into, std::uint64_t us, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) into.record(us * ns_in_us);
}

}  // namespace

std::expected<telemetry::distribution, std::string> read_histogram(std::string_view text) {
  telemetry::distribution latency;
  std::uint64_t max_us = 0;
  std::uint64_t overflown = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    while (line.ends_with(' ')) line.remove_suffix(1);
    if (const auto found = number_behind("# Max Latencies: ", line)) max_us = *found;
    if (const auto found = number_behind("# Histogram Overflows: ", line)) overflown = *found;
    const std::size_t space = line.find_first_of(" \t");
    if (space == std::string_view::npos) continue;
    const auto us = number(line.substr(0, space));
    const auto count = number(line.substr(space + 1));
    if (us && count) record_often(latency, *us, *count);
  }
  record_often(latency, max_us, overflown);
  if (latency.count() == 0) return std::unexpected{"cyclictest has printed no histogram"};
  return latency;
}

std::expected<telemetry::distribution, std::string> run_cyclictest(const wakeup_plan& plan) {
  const std::string command = weft::format(
      "cyclictest --quiet --mlockall --policy=fifo --priority={} --threads=1 --affinity={} "
      "--interval={} --loops={} --histogram=20000",
      plan.priority, plan.cpu,
      std::chrono::duration_cast<std::chrono::microseconds>(plan.period).count(), plan.wakeups);
  // It ends with this program, however that ends.
  const std::string started = "exec setpriv --pdeathsig TERM " + command + " 2>/dev/null";
  std::FILE* const output = ::popen(started.c_str(), "re");
  if (output == nullptr) return std::unexpected{"there is no process for cyclictest"};
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), output))
    text.append(part.data(), size);
  const int status = ::pclose(output);
  constexpr int no_such_command = 127;
  if (WIFEXITED(status) && WEXITSTATUS(status) == no_such_command)
    return std::unexpected{
        "cyclictest (package rt-tests) or setpriv (util-linux) is not installed"};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return std::unexpected{weft::format(
        "it failed, perhaps for want of rights, or of a CPU {}: `{}` says why", plan.cpu, command)};
  return read_histogram(text);
}

}  // namespace weft::bench
