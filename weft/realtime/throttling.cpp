#include <weft/realtime/throttling.hpp>

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include <weft/realtime/cpu_group.hpp>
#include <weft/realtime/kernel_file.hpp>
#include <weft/realtime/scheduling_call.hpp>

namespace weft::realtime {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr std::int64_t fair_runtime_ns_unless_told = 50'000'000;
constexpr std::int64_t fair_period_ns_unless_told = 1'000'000'000;
/// Of what it may have: clocks tick apart.
constexpr double used_up = 0.98;

/// "6.18.44-cloud" -> 6, 18.
void read_version(const char* release, kernel_facts& into) noexcept {
  const std::string_view text{release};
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, into.major);
  if (major.ptr != end) std::from_chars(major.ptr + 1, end, into.minor);
}

bool has_fair_server(const kernel_facts& facts) noexcept {
  return facts.major > 6 || (facts.major == 6 && facts.minor >= 12);
}

/// Looked up once: it takes milliseconds.
bool is_built_with_rt_groups(const char* release) {
  constexpr std::string_view option = "CONFIG_RT_GROUP_SCHED=y";
  static const bool found = has_option("/proc/config.gz", option) ||
                            has_option((std::string{"/boot/config-"} + release).c_str(), option);
  return found;
}

throttle_limits rt_limit_of(const kernel_facts& facts) noexcept {
  const bool is_heeded = !has_fair_server(facts) || facts.has_rt_groups;
  const std::int64_t runtime = facts.group_runtime_us.value_or(facts.rt_runtime_us);
  const std::int64_t period = facts.group_period_us.value_or(facts.rt_period_us);
  if (!is_heeded || facts.rt_runtime_us < 0 || runtime < 0 || runtime >= period) return {};
  return {
      .by = throttle::rt_runtime, .runtime = microseconds{runtime}, .period = microseconds{period}};
}

throttle_limits fair_limit_of(const kernel_facts& facts) noexcept {
  const nanoseconds for_others{facts.fair_runtime_ns.value_or(fair_runtime_ns_unless_told)};
  const nanoseconds period{facts.fair_period_ns.value_or(fair_period_ns_unless_told)};
  if (!has_fair_server(facts) || for_others <= nanoseconds::zero()) return {};
  return {.by = throttle::fair_server, .runtime = period - for_others, .period = period};
}

double share_of(const throttle_limits& limits) noexcept {
  return std::chrono::duration<double>{limits.runtime} / limits.period;
}

void read_group(kernel_facts& into) {
  const auto folder = cpu_group_folder();
  if (!folder) return;
  into.group_runtime_us = number_in((*folder + "/cpu.rt_runtime_us").c_str());
  into.group_period_us = number_in((*folder + "/cpu.rt_period_us").c_str());
}

}  // namespace

std::string_view to_string(throttle mechanism) noexcept {
  switch (mechanism) {
    case throttle::none: return "none";
    case throttle::rt_runtime: return "rt_runtime";
    case throttle::fair_server: return "fair server";
    case throttle::either: return "rt_runtime or the fair server";
    case throttle::own_budget: return "own budget";
  }
  return "unknown";
}

kernel_facts kernel_facts::read(const std::string& debugfs) {
  kernel_facts facts;
  utsname names{};
  ::uname(&names);
  read_version(names.release, facts);
  facts.rt_runtime_us = number_in(throttle_files{}.rt_runtime).value_or(facts.rt_runtime_us);
  facts.rt_period_us =
      number_in("/proc/sys/kernel/sched_rt_period_us").value_or(facts.rt_period_us);
  read_group(facts);
  // Older kernels heed the limit however they were built.
  facts.has_rt_groups =
      facts.group_runtime_us || (has_fair_server(facts) && is_built_with_rt_groups(names.release));
  const std::string server = debugfs + "/sched/fair_server/cpu" + std::to_string(::sched_getcpu());
  facts.fair_runtime_ns = number_in((server + "/runtime").c_str());
  facts.fair_period_ns = number_in((server + "/period").c_str());
  return facts;
}

throttle_limits limits_of(const kernel_facts& facts) noexcept {
  const throttle_limits limit = rt_limit_of(facts);
  const throttle_limits fair = fair_limit_of(facts);
  if (limit.by == throttle::none) return fair;
  if (fair.by == throttle::none || share_of(limit) < share_of(fair)) return limit;
  return {.by = throttle::either, .runtime = fair.runtime, .period = fair.period};
}

throttle_watch::throttle_watch(const throttle_limits& limits, const throttle_files& files) noexcept
    : limits_{limits}, files_{files} {
  const scheduling_attributes now = scheduling_attributes::read();
  const duration period = now.is_deadline() ? nanoseconds{now.period_ns} : limits.period;
  apart_ = period / samples_a_period;
}

void throttle_watch::note(time_point now, duration processor) noexcept {
  last_ = {now, processor};
  if (noted_ != 0 && now - samples_[(noted_ - 1) % samples_.size()].at < apart_) return;
  samples_[noted_++ % samples_.size()] = last_;
}

/// At least: what lies between a sample and the begin of that time is taken to have been used
/// before it began.
duration throttle_watch::used_in_last(duration length) const noexcept {
  duration most{};
  for (std::size_t i = 0; i < std::min(noted_, samples_.size()); ++i) {
    const duration before = last_.at - samples_[i].at - length;
    const duration used = last_.processor - samples_[i].processor;
    most = std::max(most, used - std::max(before, duration::zero()));
  }
  return most;
}

/// A run that was there as that time began may have worked within it alone.
duration throttle_watch::used_at_most_in_last(duration length) const noexcept {
  duration used{};
  for (std::size_t back = 1; back <= std::min(noted_, samples_.size()); ++back) {
    const sample& before = samples_[(noted_ - back) % samples_.size()];
    used = last_.processor - before.processor;
    if (last_.at - before.at >= length) break;
  }
  return used;
}

/// nullptr: there is none.
const throttle_watch::sample* throttle_watch::sample_before_last() const noexcept {
  for (std::size_t back = 1; back <= std::min(noted_, samples_.size()); ++back) {
    const sample& each = samples_[(noted_ - back) % samples_.size()];
    if (each.at < last_.at) return &each;
  }
  return nullptr;
}

/// Others of its kind may have had what it has not: all of them share what they may have, and it is
/// away while they run. To be away for longer than the mechanism lasts says nothing for it.
bool throttle_watch::is_used_up(duration absence) const noexcept {
  const duration forced = limits_.period - limits_.runtime;
  const std::chrono::duration<double> enough = used_up * limits_.runtime;
  return used_in_last(limits_.period) + std::min(absence, forced) >= enough;
}

/// Nobody has looked for periods, over which it was throttled again and again: what it had in the
/// last of them is not known, but what it had of all.
bool throttle_watch::is_used_up_on_average(duration absence) const noexcept {
  const sample* const before = sample_before_last();
  if (before == nullptr || last_.at - before->at <= limits_.period) return false;
  const double periods = std::chrono::duration<double>{last_.at - before->at} / limits_.period;
  const duration forced = limits_.period - limits_.runtime;
  const std::chrono::duration<double> away =
      std::min<std::chrono::duration<double>>(absence, std::ceil(periods) * forced);
  return last_.processor - before->processor + away >= periods * used_up * limits_.runtime;
}

bool throttle_watch::is_evident(duration absence) const noexcept {
  return absence >= (limits_.period - limits_.runtime) / 2 &&
         (is_used_up(absence) || is_used_up_on_average(absence));
}

/// This CPU, as far as the kernel says.
bool throttle_watch::had_nothing_to_do(time_point since) const noexcept {
  constexpr std::string_view section = "cpu: ";
  std::array<char, 16> heading{};
  const auto number = std::to_chars(std::ranges::copy(section, heading.data()).out,
                                    heading.data() + heading.size(), ::sched_getcpu());
  const auto last_ns =
      number_behind(files_.timers, {heading.data(), number.ptr}, "  .idle_entrytime : ");
  return last_ns && time_point{nanoseconds{*last_ns}} > since;
}

/// sched_rt_runtime_us may have been lifted since it was read. Of two ways the fair server has no
/// part in it where nobody else wanted the CPU.
throttle_limits throttle_watch::at_work(time_point since) const noexcept {
  if (limits_.by == throttle::fair_server) return limits_;
  const auto limit_us = number_in(files_.rt_runtime);
  const bool is_lifted = limit_us && *limit_us < 0;
  if (limits_.by == throttle::rt_runtime) return is_lifted ? throttle_limits{} : limits_;
  throttle_limits one = limits_;
  if (is_lifted) {
    one.by = throttle::fair_server;
  } else if (had_nothing_to_do(since)) {
    one.by = throttle::rt_runtime;
    if (limit_us) one.runtime = microseconds{*limit_us};
  }
  return one;
}

throttle_limits throttle_watch::find(duration absence, duration worked) const noexcept {
  const scheduling_attributes now = scheduling_attributes::read();
  if (now.is_deadline()) {
    const throttle_limits own{.by = throttle::own_budget,
                              .runtime = nanoseconds{now.runtime_ns},
                              .period = nanoseconds{now.period_ns}};
    const duration used = std::max(worked, used_at_most_in_last(own.period));
    const bool is_used_up = used >= std::chrono::duration<double>{used_up * own.runtime};
    return absence > duration::zero() && is_used_up ? own : throttle_limits{};
  }
  const bool may_be = now.is_realtime() && limits_.by != throttle::none;
  if (!may_be || !is_evident(absence)) return {};
  return at_work(last_.at - absence - worked);
}

}  // namespace weft::realtime
