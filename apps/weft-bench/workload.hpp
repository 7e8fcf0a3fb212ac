// What the workloads have in common: threads that do the same at once, and a line of figures a
// phase.
//
// Contract: a workload is run in phases, each in a process of its own, so that the peak of one is
// not that of the next: on one thread, and then, where more are asked for, on all of them, each of
// which does the whole count. Time is the steady clock's, from before the first loop is made until
// the last has ended.
//
//   weft-bench event --threads 8 --count 5000000 --json
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "workload_options.hpp"

namespace weft::bench {

/// What one thread did.
struct workload_share {
  std::uint64_t dispatched = 0;
  std::size_t queue_bytes_max = 0;
  std::uint64_t services = 0;  // those that were made, without loggers; 0: it is not about them
  // From when an event is published until it is told; 0: it is not about that.
  std::uint64_t p50_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t max_ns = 0;
  bool is_right = true;  // all of it, and in order
};

struct workload {
  std::string_view name;
  /// On a thread of its own, which has no loop yet.
  workload_share (*run)(const workload_options&);
  /// How often, unless the options say so.
  std::uint64_t count;
};

/// Runs the phases and prints their figures. The exit code: 0, or 1 if what was done was not right.
int run_workload(const workload& what, const workload_options& options);

}  // namespace weft::bench
