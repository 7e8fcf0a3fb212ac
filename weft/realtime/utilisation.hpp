// How much of a processor the periodic tasks of a loop want.
//
// Contract: a task wants the processor time of a run in each of its periods. What a run takes is
// what was measured so far, or if that is more, what the task's options say. More than `limit`
// cannot be had, and deadlines will be missed sooner or later; less is no promise, since a loop
// does not interrupt one task for another: the longest run of another is to be added to the
// response time of each. The loop's thread; no allocation.
//
//   const utilisation all = utilisation_of(loop);
//   if (!all.fits()) log::warning(describe_utilisation(loop));
#pragma once

#include <string>

namespace weft {
class event_loop;
}

namespace weft::realtime {

struct utilisation {
  unsigned tasks = 0;
  double mean = 0;
  double worst = 0;
  /// What there is: 1, or what the kernel leaves to realtime threads if this is one, or what a
  /// thread of SCHED_DEADLINE has asked for.
  double limit = 1;

  [[nodiscard]] bool fits() const noexcept { return worst <= limit; }
};

/// Of this loop's periodic tasks. A system call.
[[nodiscard]] utilisation utilisation_of(const event_loop& loop) noexcept;

/// Warns in the log if they do not fit. A warning allocates.
void warn_if_too_much(const event_loop& loop);

/// A line for people, with each task's part; allocates.
[[nodiscard]] std::string describe_utilisation(const event_loop& loop);

}  // namespace weft::realtime
