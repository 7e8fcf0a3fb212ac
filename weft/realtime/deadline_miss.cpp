#include <weft/realtime/deadline_miss.hpp>

#include <algorithm>
#include <array>
#include <chrono>

#include <weft/base/format.hpp>
#include <weft/coro/task_dump.hpp>

namespace weft::realtime {
namespace {

miss_cause cause_of_absence(const thread_usage& used) noexcept {
  if (used.major_faults != 0) return miss_cause::page_faults;
  return used.preemptions != 0 ? miss_cause::preempted : miss_cause::blocked;
}

double in_microseconds(duration length) noexcept {
  return std::chrono::duration<double, std::micro>{length}.count();
}

std::string full_cause_of(const deadline_miss& miss) {
  const std::string_view cause = to_string(miss.cause);
  if (miss.cause == miss_cause::long_predecessor && miss.predecessor.line() != 0)
    return weft::format("{}, {}", cause, weft::describe(miss.predecessor));
  if (miss.cause != miss_cause::throttled) return std::string{cause};
  const throttle_limits& limits = miss.throttled_by;
  return weft::format("{} by {}, which leaves it {:.0f} of each {:.0f} us", cause,
                      to_string(limits.by), in_microseconds(limits.runtime),
                      in_microseconds(limits.period));
}

}  // namespace

run_shares& run_shares::operator+=(const run_shares& more) noexcept {
  wakeup += more.wakeup;
  predecessors += more.predecessors;
  work += more.work;
  absence += more.absence;
  return *this;
}

run_shares operator/(const run_shares& sum, std::int64_t count) noexcept {
  return {.wakeup = sum.wakeup / count,
          .predecessors = sum.predecessors / count,
          .work = sum.work / count,
          .absence = sum.absence / count};
}

std::string_view to_string(miss_cause cause) noexcept {
  switch (cause) {
    case miss_cause::late_wakeup: return "late wake-up";
    case miss_cause::long_predecessor: return "long predecessor";
    case miss_cause::own_work: return "own work";
    case miss_cause::preempted: return "preempted";
    case miss_cause::throttled: return "throttled";
    case miss_cause::page_faults: return "page faults";
    case miss_cause::blocked: return "blocked";
  }
  return "unknown";
}

miss_cause find_cause(const run_shares& shares, const run_shares& usual,
                      const thread_usage& used) noexcept {
  struct excess {
    duration beyond;
    miss_cause cause;
  };
  const std::array all = {
      excess{shares.work - usual.work, miss_cause::own_work},
      excess{shares.absence - usual.absence, cause_of_absence(used)},
      excess{shares.predecessors - usual.predecessors, miss_cause::long_predecessor},
      excess{shares.wakeup - usual.wakeup, miss_cause::late_wakeup}};
  return std::ranges::max_element(all, {}, &excess::beyond)->cause;
}

std::string describe(const deadline_miss& miss) {
  return weft::format(
      "{}run {} ended {:.1f} us after it was due, and not within {:.1f}: {} (woken after {:.1f} "
      "us, others ran for {:.1f}, itself {:.1f}, off the processor {:.1f}; {} preemptions, {} "
      "waits, {} page faults, {} of them from a disk)",
      miss.task.empty() ? std::string{} : weft::format("{}: ", miss.task), miss.number,
      in_microseconds(miss.response()), in_microseconds(miss.deadline), full_cause_of(miss),
      in_microseconds(miss.shares.wakeup), in_microseconds(miss.shares.predecessors),
      in_microseconds(miss.shares.work), in_microseconds(miss.shares.absence),
      miss.used.preemptions, miss.used.waits, miss.used.minor_faults + miss.used.major_faults,
      miss.used.major_faults);
}

}  // namespace weft::realtime
