// Where a shard's thread runs, and what it is called.
//
// Contract: each call is about the calling thread, but unpin_thread(). Nothing here fails: a name
// or a place that the system refuses is a comfort less, which the log tells.
//
//   place_thread({.name = "shard", .index = 3, .of = 8, .pin = pinning::where_it_fits});
#pragma once

#include <pthread.h>

#include <cstdint>
#include <string_view>

namespace weft {

enum class pinning : std::uint8_t {
  where_it_fits,  // one CPU a shard, if there are as many
  always,         // round the CPUs, if there are fewer
  never
};

/// CPUs this process may use; 1 at least.
[[nodiscard]] unsigned usable_cpus() noexcept;
/// The number of the last of them, on which the kernel's own work is least likely.
[[nodiscard]] unsigned last_usable_cpu() noexcept;

struct thread_place {
  std::string_view name;  // the kernel keeps 15 characters, the index included
  unsigned index = 0;
  unsigned of = 1;  // so many like it
  pinning pin = pinning::never;
  int nice_more = 0;  // than its maker, as nice(1) counts
};

/// Of threads that work beside a loop: on the loop's own CPU they get a tenth of the time, so that
/// a long call does not add the scheduler's time slices to what requests wait.
inline constexpr int nice_beside_loop = 10;

void place_thread(const thread_place& place);
/// From now on on this CPU alone; what the system said: 0, or an error of <cerrno>.
[[nodiscard]] int pin_thread(unsigned cpu) noexcept;
/// Has a thread that the caller has just made run wherever the program might before the first of
/// its threads was pinned. Its maker says so: a thread begins on the CPUs of its maker, which may
/// have a realtime policy and keep its only one, so that the new thread would never come to say so
/// itself.
void unpin_thread(pthread_t made) noexcept;

}  // namespace weft
