// What the shards of an application are to ask of the system, by the section [realtime].
//
// Contract: apply_on_shard() is called once by each shard, on its own thread, and says in the log
// what took effect, a line each; what did not is a warning, with the command that would allow it,
// and nothing ends by it. What is of the whole process is asked for by shard 0, and what that is
// given lasts as long as the applied_setup.
//
//   [realtime]
//   policy = "fifo"
//   cpus = [2, 3]
//   lock_memory = true
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/time.hpp>
#include <weft/realtime/allocation_guard.hpp>
#include <weft/realtime/thread_setup.hpp>
#include <weft/service/option_bounds.hpp>

namespace weft::detail {

/// As the section [realtime] has them; realtime::thread_setup says what they mean.
struct realtime_section {
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
    return weft::bounds(within<&realtime_section::priority>(1, 99));
  }
};

/// What is wrong with the section as a whole; empty: nothing.
[[nodiscard]] std::string wrong_together(const realtime_section& wanted);

[[nodiscard]] realtime::applied_setup apply_on_shard(const realtime_section& wanted,
                                                     unsigned shard);

/// Watches a shard's allocations while it serves, and says in the log what there were. Of the
/// shard's thread.
class serving_guard {
 public:
  serving_guard(const realtime_section& wanted, unsigned shard) noexcept
      : rule_{wanted.allocations}, shard_{shard} {}
  void begin() noexcept;
  void end();

 private:
  realtime::on_allocation rule_;
  unsigned shard_;
  std::optional<realtime::allocation_guard> guard_;
};

}  // namespace weft::detail
