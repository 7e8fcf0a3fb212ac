#include <weft/realtime/utilisation.hpp>

#include <algorithm>
#include <chrono>
#include <string_view>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/realtime/periodic.hpp>
#include <weft/realtime/periodic_group.hpp>
#include <weft/realtime/scheduling_call.hpp>

namespace weft::realtime {
namespace {

double share_of(double nanoseconds, const periodic& task) noexcept {
  return nanoseconds / static_cast<double>(task.options().period.count());
}

double worst_share_of(const periodic& task) noexcept {
  const auto measured = static_cast<double>(task.record().execution.max());
  return share_of(std::max(measured, static_cast<double>(task.options().execution.count())), task);
}

double limit_for(const periodic& task) noexcept {
  const auto part = [](auto runtime, auto period) {
    return static_cast<double>(runtime) / static_cast<double>(period);
  };
  const scheduling_attributes now = scheduling_attributes::read();
  if (now.is_deadline()) return part(now.runtime_ns, now.period_ns);
  const throttle_limits& limits = task.limits();
  if (limits.by == throttle::none || !now.is_realtime()) return 1;
  return part(limits.runtime.count(), limits.period.count());
}

}  // namespace

utilisation utilisation_of(const event_loop& loop) noexcept {
  utilisation all;
  periodic_group* const group = periodic_group::find(loop);
  if (group == nullptr) return all;
  group->for_each([&](const periodic& task) {
    ++all.tasks;
    all.mean += share_of(task.record().execution.mean(), task);
    all.worst += worst_share_of(task);
    if (all.tasks == 1) all.limit = limit_for(task);
  });
  return all;
}

void warn_if_too_much(const event_loop& loop) {
  if (!log::enabled(log::level::warning) || utilisation_of(loop).fits()) return;
  if (periodic_group* const group = periodic_group::find(loop)) group->note_warned();
  log::warning(describe_utilisation(loop));
}

std::string describe_utilisation(const event_loop& loop) {
  const utilisation all = utilisation_of(loop);
  std::string line = weft::format(
      "periodic tasks want {:.2f} of their processor at worst, {:.2f} on average, and may have "
      "{:.2f}",
      all.worst, all.mean, all.limit);
  periodic_group* const group = periodic_group::find(loop);
  if (group == nullptr) return line;
  const char* separator = ": ";
  group->for_each([&](const periodic& task) {
    const std::string_view name = task.options().name;
    line += weft::format("{}{} {:.2f}", separator, name.empty() ? "a task" : name,
                         worst_share_of(task));
    separator = ", ";
  });
  return line;
}

}  // namespace weft::realtime
