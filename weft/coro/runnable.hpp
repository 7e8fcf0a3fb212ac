// What waits in a ready queue: a link and a function, embedded in what is to be run, so that
// queueing never allocates.
//
// Contract: a runnable is queued in at most one queue at a time and outlives its stay there. `run`
// is called once per stay, on the shard that owns the queue; it may queue the same runnable again.
// Nothing here is thread safe.
//
//   struct flush : runnable {
//     flush() : runnable{&on_run} {}
//     static void on_run(runnable& self) noexcept { ... }
//   };
//   scheduler.schedule(my_flush, priority::normal);
#pragma once

#include <cstdint>

namespace weft {

/// Bands of the ready queue, most urgent first. Within a band: first come, or as a seed draws.
enum class priority : std::uint8_t { critical, high, normal, low, idle };
inline constexpr unsigned priority_count = 5;

struct runnable {
  using function = void (*)(runnable&) noexcept;

  explicit runnable(function f) noexcept : run{f} {}
  runnable(const runnable&) = delete;
  runnable& operator=(const runnable&) = delete;

  function run;
  runnable* next = nullptr;

 protected:
  ~runnable() = default;
};

}  // namespace weft
