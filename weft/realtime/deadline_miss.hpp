// Why a run of a periodic task ended too late.
//
// Problem: "it was late" helps nobody: a kernel that wakes late, a task before it on the same loop,
// a processor that was taken away and work that is too long are mended in four places. Contract:
// plain data. The time from when a run was due until it ended is split into four shares; the cause
// is the one that was longest beyond what it usually is.
//
//   clock.on_miss([&](const realtime::deadline_miss& miss) { last = miss; });
//   log.warning("{}", describe(last));  // allocates: not for the task itself
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weft/base/time.hpp>
#include <weft/loop/piece_watch.hpp>
#include <weft/realtime/thread_usage.hpp>
#include <weft/realtime/throttling.hpp>

namespace weft::realtime {

/// Where the time went from when a run was due until it ended.
struct run_shares {
  /// Until the loop came back from its wait for the kernel.
  duration wakeup{};
  /// Others ran on the loop, until this did.
  duration predecessors{};
  /// It ran, on a processor.
  duration work{};
  /// And off it: taken from it, or waiting in the kernel.
  duration absence{};

  [[nodiscard]] duration sum() const noexcept { return wakeup + predecessors + work + absence; }
  run_shares& operator+=(const run_shares& more) noexcept;
  friend run_shares operator/(const run_shares& sum, std::int64_t count) noexcept;
};

enum class miss_cause : std::uint8_t {
  late_wakeup,
  long_predecessor,   // one piece was half of what others had, or more
  many_predecessors,  // none was
  own_work,
  preempted,    // it wanted a processor that others had
  throttled,    // it had used up what the kernel lets such threads have
  page_faults,  // pages that had to be read from a disk
  blocked,      // by a system call of its own
  stolen,       // by the host of a virtual machine, or by interrupts
};

[[nodiscard]] std::string_view to_string(miss_cause cause) noexcept;

/// Who kept the loop from when a run was due until it began.
struct run_predecessors {
  /// In one piece, and after the run was due.
  loop_piece longest{};
  /// Pieces in all.
  std::uint64_t count = 0;
  /// The last run of the task itself; zero: it had ended, or there was none.
  duration own_run{};
};

struct deadline_miss {
  /// The one in its options.
  std::string_view task{};
  /// Number of the period, from 0 on.
  std::uint64_t number = 0;
  time_point due{};
  duration deadline{};
  miss_cause cause{};
  run_shares shares{};
  thread_usage used{};
  /// How long it waited for a processor while it ran; none: the kernel does not say.
  std::optional<duration> queued{};
  run_predecessors before{};
  /// What took the processor from it, and leaves it so much; for a cause of `throttled`.
  throttle_limits throttled_by{};

  /// From when it was due until it ended.
  [[nodiscard]] duration response() const noexcept { return shares.sum(); }
};

/// From what is known of it. `usual`: the mean of the runs before. Where the kernel does not say
/// how long a thread waited for a processor, its absence is told by how often it was switched away.
[[nodiscard]] miss_cause find_cause(const deadline_miss& miss, const run_shares& usual) noexcept;

/// A line for people.
[[nodiscard]] std::string describe(const deadline_miss& miss);

}  // namespace weft::realtime
