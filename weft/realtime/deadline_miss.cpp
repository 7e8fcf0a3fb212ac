#include <weft/realtime/deadline_miss.hpp>

#include <algorithm>
#include <array>
#include <chrono>

#include <weft/base/format.hpp>

namespace weft::realtime {
namespace {

/// Who never gave its processor up, and did not wait for one, was not there in the kernel's eyes.
miss_cause cause_of_absence(const deadline_miss& miss) noexcept {
  if (miss.queued && *miss.queued >= miss.shares.absence / 2) return miss_cause::preempted;
  if (miss.used.major_faults != 0) return miss_cause::page_faults;
  if (miss.queued && miss.used.waits == 0) return miss_cause::stolen;
  return miss.queued || miss.used.preemptions == 0 ? miss_cause::blocked : miss_cause::preempted;
}

bool is_own_run(const deadline_miss& miss) noexcept {
  const duration own = miss.before.own_run;
  return own > duration::zero() && own >= miss.shares.predecessors / 2;
}

miss_cause cause_of_waiting(const deadline_miss& miss) noexcept {
  const bool is_one =
      is_own_run(miss) || miss.before.longest.lasted >= miss.shares.predecessors / 2;
  return is_one ? miss_cause::long_predecessor : miss_cause::many_predecessors;
}

double in_microseconds(duration length) noexcept {
  return std::chrono::duration<double, std::micro>{length}.count();
}

std::string in_full(const throttle_limits& limits) {
  return weft::format(" by {}, which leaves it {:.0f} of each {:.0f} us", to_string(limits.by),
                      in_microseconds(limits.runtime), in_microseconds(limits.period));
}

std::string details_of_cause(const deadline_miss& miss) {
  const run_predecessors& before = miss.before;
  switch (miss.cause) {
    case miss_cause::long_predecessor:
      return ", " + (is_own_run(miss) ? "its own run before" : describe(before.longest));
    case miss_cause::many_predecessors:
      return weft::format(", {} of {:.1f} us at most", before.count,
                          in_microseconds(before.longest.lasted));
    case miss_cause::throttled: return in_full(miss.throttled_by);
    default: return {};
  }
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
    case miss_cause::many_predecessors: return "many predecessors";
    case miss_cause::own_work: return "own work";
    case miss_cause::preempted: return "preempted";
    case miss_cause::throttled: return "throttled";
    case miss_cause::page_faults: return "page faults";
    case miss_cause::blocked: return "blocked";
    case miss_cause::stolen: return "stolen";
  }
  return "unknown";
}

miss_cause find_cause(const deadline_miss& miss, const run_shares& usual) noexcept {
  const run_shares& shares = miss.shares;
  struct excess {
    duration beyond;
    miss_cause cause;
  };
  const std::array all = {excess{shares.work - usual.work, miss_cause::own_work},
                          excess{shares.absence - usual.absence, cause_of_absence(miss)},
                          excess{shares.predecessors - usual.predecessors, cause_of_waiting(miss)},
                          excess{shares.wakeup - usual.wakeup, miss_cause::late_wakeup}};
  return std::ranges::max_element(all, {}, &excess::beyond)->cause;
}

std::string describe(const deadline_miss& miss) {
  return weft::format(
      "{}run {} ended {:.1f} us after it was due, and not within {:.1f}: {}{} (woken after {:.1f} "
      "us, others ran for {:.1f}, itself {:.1f}, off the processor {:.1f}{}; {} preemptions, {} "
      "waits, {} page faults, {} of them from a disk)",
      miss.task.empty() ? std::string{} : weft::format("{}: ", miss.task), miss.number,
      in_microseconds(miss.response()), in_microseconds(miss.deadline), to_string(miss.cause),
      details_of_cause(miss), in_microseconds(miss.shares.wakeup),
      in_microseconds(miss.shares.predecessors), in_microseconds(miss.shares.work),
      in_microseconds(miss.shares.absence),
      miss.queued ? weft::format(", {:.1f} of them for want of it", in_microseconds(*miss.queued))
                  : std::string{},
      miss.used.preemptions, miss.used.waits, miss.used.minor_faults + miss.used.major_faults,
      miss.used.major_faults);
}

}  // namespace weft::realtime
