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

#include <optional>
#include <string>

#include <weft/realtime/allocation_guard.hpp>
#include <weft/realtime/thread_setup.hpp>
#include <weft/service/config.hpp>
#include <weft/service/realtime_options.hpp>

namespace weft::detail {

/// What is wrong with the section as a whole; empty: nothing. What the policy does not use is wrong
/// where somebody has set it, and forgotten where it was the program, for another policy. After
/// given.apply().
[[nodiscard]] std::string wrong_together(realtime_options& wanted, const config& given);

[[nodiscard]] realtime::applied_setup apply_on_shard(const realtime_options& wanted,
                                                     unsigned shard);

/// Watches a shard's allocations while it serves, and says in the log what there were. Of the
/// shard's thread.
class serving_guard {
 public:
  serving_guard(const realtime_options& wanted, unsigned shard) noexcept
      : rule_{wanted.allocations}, shard_{shard} {}
  void begin() noexcept;
  void end();

 private:
  realtime::on_allocation rule_;
  unsigned shard_;
  std::optional<realtime::allocation_guard> guard_;
};

}  // namespace weft::detail
