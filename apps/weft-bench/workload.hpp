// What the workloads have in common: their command line, threads that do the same at once, and a
// line of figures a phase.
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
#include <expected>
#include <span>
#include <string>
#include <string_view>

namespace weft::bench {

struct workload_options {
  bool help = false;
  bool json = false;
  unsigned threads = 1;
  std::uint64_t count = 5'000'000;
  std::uint64_t capacity = 0;  // 0: the producer never waits
};

/// `arguments` without the program's and the command's name; the error is a sentence for the user.
std::expected<workload_options, std::string> parse_workload_options(
    std::span<const std::string_view> arguments);

/// What one thread did.
struct workload_share {
  std::uint64_t dispatched = 0;
  std::size_t queue_bytes_max = 0;
  bool is_right = true;  // all of it, and in order
};

/// On a thread of its own, which has no loop yet.
using workload_function = workload_share (*)(const workload_options&);

/// Runs the phases and prints their figures. The exit code: 0, or 1 if what was done was not right.
int run_workload(std::string_view name, workload_function work, const workload_options& options);

extern const std::string_view workload_help;

}  // namespace weft::bench
