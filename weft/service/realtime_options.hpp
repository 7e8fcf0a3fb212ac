// What the shards of an application are to ask of the system: the section [realtime].
//
// Contract: plain data; realtime::thread_setup says what each of them means, and what is not
// permitted is told in the log and ends nothing.
//
//   weft::application app{argc, argv, {.realtime = {.policy = realtime::scheduling::fifo}}};
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <weft/base/bounds.hpp>
#include <weft/base/time.hpp>
#include <weft/realtime/allocation_guard.hpp>
#include <weft/realtime/thread_setup.hpp>

namespace weft {

struct realtime_options {
  realtime::scheduling policy = realtime::scheduling::other;
  int priority = 10;
  realtime::deadline_budget budget{};
  /// Shard i is on the i-th of them alone, and round again; none: where the system wants it.
  std::vector<unsigned> cpus{};
  bool lock_memory = false;
  /// Of each shard.
  std::size_t stack_bytes = 0;
  std::size_t heap_bytes = 0;
  std::optional<duration> timer_slack{};
  bool keep_processors_awake = false;
  /// What becomes of allocations between the start of all services and their stop.
  realtime::on_allocation allocations = realtime::on_allocation::allow;

  static constexpr auto bounds() {
    return weft::bounds(within<&realtime_options::priority>(1, 99));
  }
};

}  // namespace weft
