// What takes the processor from a realtime thread that does not wait, and whether it did.
//
// Problem: a thread of SCHED_FIFO that uses all of its processor loses it for 50 ms of each second,
// and nothing says so: to the thread it looks like any preemption. Contract: the kernel has two
// ways to do it, and which of them is at work depends on its version, how it was built and what it
// was told; what that comes to is read from what it says of itself. That a thread was throttled is
// told by evidence: its policy, that it had used up what it may have, and that it was away for so
// long. Nothing here fails: what cannot be read is taken for what kernels have unless told
// otherwise.
//
//   const throttle_limits limits = limits_of(kernel_facts::read());
//   throttle_watch watch{limits};
//   watch.note(now, thread_usage::read().processor);  // as a run begins, and as it ends
//   if (watch.find(absence, worked).by == throttle::rt_runtime) raise_the_limit();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/time.hpp>

namespace weft::realtime {

enum class throttle : std::uint8_t {
  none,
  rt_runtime,   // sched_rt_runtime_us: realtime threads have so much of each period, and no more
  fair_server,  // Linux 6.12 and newer: if others starve, they have so much of each period
  either,       // of these two: both are on, and leave it as much
  own_budget,   // SCHED_DEADLINE: it has used up the runtime that it had asked for
};

[[nodiscard]] std::string_view to_string(throttle mechanism) noexcept;

/// What is written in the kernel's files. Of the calling thread's control group and of the CPU that
/// it runs on, where that counts.
struct kernel_facts {
  unsigned major = 0;
  unsigned minor = 0;
  /// Negative: no limit.
  std::int64_t rt_runtime_us = 950'000;
  std::int64_t rt_period_us = 1'000'000;
  /// Whether realtime threads are limited by control groups (CONFIG_RT_GROUP_SCHED). Since 6.12
  /// only such kernels heed the limit.
  bool has_rt_groups = false;
  /// The own group's, where groups have them (version 1).
  std::optional<std::int64_t> group_runtime_us{};
  std::optional<std::int64_t> group_period_us{};
  /// What this CPU's fair server gives to others of each of its periods; 0: it is off. None: not to
  /// be read.
  std::optional<std::int64_t> fair_runtime_ns{};
  std::optional<std::int64_t> fair_period_ns{};

  /// `debugfs`: where that is mounted.
  [[nodiscard]] static kernel_facts read(const std::string& debugfs = "/sys/kernel/debug");
};

/// What realtime threads may have: `runtime` of each `period`, taken care of `by`.
struct throttle_limits {
  throttle by = throttle::none;
  duration runtime{};
  duration period{};
};

/// Where both ways are on, and the limit leaves less, it comes first: others do not starve then.
/// Else the fair server does where others want the CPU, and the limit where none does.
[[nodiscard]] throttle_limits limits_of(const kernel_facts& facts) noexcept;

/// Looked at again before one is named; the names are there for ever.
struct throttle_files {
  const char* rt_runtime = "/proc/sys/kernel/sched_rt_runtime_us";
  const char* timers = "/proc/timer_list";  // when CPUs had nothing to do; for root alone
};

/// Of one thread, which calls it, and has its policy before it makes this.
class throttle_watch {
 public:
  explicit throttle_watch(const throttle_limits& limits, const throttle_files& files = {}) noexcept;

  [[nodiscard]] const throttle_limits& limits() const noexcept { return limits_; }

  /// `processor`: what the thread has had in all.
  void note(time_point now, duration processor) noexcept;

  /// What took the processor from the thread for `absence`, which ended before the last note, and
  /// leaves it so much; by none, if that was not why. `worked`: what it had of it since it was due.
  /// A system call; three more before rt_runtime is named; and where it may have been either, those
  /// to read when this CPU had nothing to do, which tells one from the other.
  [[nodiscard]] throttle_limits find(duration absence, duration worked) const noexcept;

 private:
  struct sample {
    time_point at;
    duration processor;
  };
  static constexpr std::size_t samples_a_period = 128;

  [[nodiscard]] duration used_in_last(duration length) const noexcept;
  [[nodiscard]] duration used_at_most_in_last(duration length) const noexcept;
  [[nodiscard]] const sample* sample_before_last() const noexcept;
  [[nodiscard]] bool is_used_up(duration absence) const noexcept;
  [[nodiscard]] bool is_used_up_on_average(duration absence) const noexcept;
  [[nodiscard]] bool is_evident(duration absence) const noexcept;
  [[nodiscard]] throttle_limits at_work(time_point since) const noexcept;
  [[nodiscard]] bool had_nothing_to_do(time_point since) const noexcept;

  throttle_limits limits_;
  throttle_files files_;
  duration apart_{};  // two samples are at least
  sample last_{};
  // In a ring: those of the last period at least, and those before it that were not overwritten.
  std::array<sample, samples_a_period + 1> samples_{};
  std::size_t noted_ = 0;  // in all
};

}  // namespace weft::realtime
