#include <weft/realtime/throttling.hpp>

#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <string>

#include <weft/base/read_file.hpp>
#include <weft/realtime/scheduling_call.hpp>

namespace weft::realtime {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr std::size_t file_bytes_max = 64 * 1024;
constexpr std::size_t config_bytes_max = 1024 * 1024;
constexpr std::int64_t fair_runtime_ns_unless_told = 50'000'000;
constexpr duration fair_period = std::chrono::seconds{1};

std::optional<std::int64_t> number_in(const std::string& path) {
  const auto text = read_file(path, file_bytes_max);
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), number);
  if (read.ec != std::errc{}) return std::nullopt;
  return number;
}

/// "6.18.44-cloud" -> 6, 18.
void read_version(const char* release, kernel_facts& into) noexcept {
  const std::string_view text{release};
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, into.major);
  if (major.ptr != end) std::from_chars(major.ptr + 1, end, into.minor);
}

/// Of the group of version 1 that this process is in: a line of /proc/self/cgroup is
/// "4:cpu,cpuacct:/path".
std::optional<std::int64_t> group_runtime() {
  const auto groups = read_file("/proc/self/cgroup", file_bytes_max);
  if (!groups) return std::nullopt;
  std::string_view left = *groups;
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controllers != "cpu" && !controllers.starts_with("cpu,")) continue;
    const std::string folder = "/sys/fs/cgroup/" + std::string{controllers};
    return number_in(folder + std::string{line.substr(second + 1)} + "/cpu.rt_runtime_us");
  }
  return std::nullopt;
}

bool has_fair_server(const kernel_facts& facts) noexcept {
  return facts.major > 6 || (facts.major == 6 && facts.minor >= 12);
}

bool is_built_with_rt_groups(const char* release) {
  const auto options = read_file(std::string{"/boot/config-"} + release, config_bytes_max);
  return options && options->contains("\nCONFIG_RT_GROUP_SCHED=y");
}

}  // namespace

std::string_view to_string(throttle mechanism) noexcept {
  switch (mechanism) {
    case throttle::none: return "none";
    case throttle::rt_runtime: return "rt_runtime";
    case throttle::fair_server: return "fair server";
    case throttle::own_budget: return "own budget";
  }
  return "unknown";
}

kernel_facts kernel_facts::read() {
  kernel_facts facts;
  utsname names{};
  ::uname(&names);
  read_version(names.release, facts);
  facts.rt_runtime_us =
      number_in("/proc/sys/kernel/sched_rt_runtime_us").value_or(facts.rt_runtime_us);
  facts.rt_period_us =
      number_in("/proc/sys/kernel/sched_rt_period_us").value_or(facts.rt_period_us);
  facts.group_runtime_us = group_runtime();
  // Older kernels heed the limit however they were built.
  facts.has_rt_groups =
      facts.group_runtime_us || (has_fair_server(facts) && is_built_with_rt_groups(names.release));
  facts.fair_runtime_ns = number_in("/sys/kernel/debug/sched/fair_server/cpu0/runtime");
  return facts;
}

throttle_limits limits_of(const kernel_facts& facts) noexcept {
  const bool is_fair = has_fair_server(facts);
  const bool heeds_limit = !is_fair || facts.has_rt_groups;
  const std::int64_t limit = facts.group_runtime_us.value_or(facts.rt_runtime_us);
  if (heeds_limit && facts.rt_runtime_us >= 0 && limit >= 0 && limit < facts.rt_period_us)
    return {.by = throttle::rt_runtime,
            .runtime = microseconds{limit},
            .period = microseconds{facts.rt_period_us}};
  const nanoseconds for_others{facts.fair_runtime_ns.value_or(fair_runtime_ns_unless_told)};
  if (is_fair && for_others > nanoseconds::zero())
    return {
        .by = throttle::fair_server, .runtime = fair_period - for_others, .period = fair_period};
  return {};
}

void throttle_watch::note(time_point now, duration processor) noexcept {
  last_ = {now, processor};
  if (!older_) {
    older_ = newer_ = last_;
  } else if (now - newer_.at >= limits_.period) {
    older_ = newer_;
    newer_ = last_;
  }
}

/// Of the last period or two it has had all that it may, but a tenth of that: clocks tick apart.
bool throttle_watch::has_used_its_share() const noexcept {
  if (!older_) return false;
  const duration elapsed = last_.at - older_->at;
  const std::chrono::duration<double> used = last_.processor - older_->processor;
  const double share =
      static_cast<double>(limits_.runtime.count()) / static_cast<double>(limits_.period.count());
  return elapsed >= limits_.runtime &&
         used.count() >= 0.9 * share * std::chrono::duration<double>{elapsed}.count();
}

throttle_limits throttle_watch::find(duration absence, duration worked) const noexcept {
  const scheduling_attributes now = scheduling_attributes::read();
  if (now.is_deadline()) {
    const nanoseconds budget{now.runtime_ns};
    if (worked < budget) return {};
    return {.by = throttle::own_budget, .runtime = budget, .period = nanoseconds{now.period_ns}};
  }
  if (!now.is_realtime() || limits_.by == throttle::none || !has_used_its_share()) return {};
  // The limit takes it in one piece; the server may be disturbed itself.
  const duration piece = limits_.period - limits_.runtime;
  const bool is_piece = limits_.by != throttle::rt_runtime || absence >= piece / 2;
  return is_piece ? limits_ : throttle_limits{};
}

}  // namespace weft::realtime
