// What the kernel says that a thread has used, and what was done to it.
//
// Contract: of the calling thread; two system calls, half a microsecond. Nothing here fails.
//
//   const thread_usage before = thread_usage::read();
//   work();
//   const thread_usage used = thread_usage::read() - before;
#pragma once

#include <cstdint>

#include <weft/base/time.hpp>

namespace weft::realtime {

struct thread_usage {
  /// On a processor, in user and kernel mode (CLOCK_THREAD_CPUTIME_ID).
  duration processor{};
  /// The processor was taken from it, or it gave it up, to wait (getrusage(2)).
  std::int64_t preemptions = 0;
  std::int64_t waits = 0;
  /// Pages that were mapped when they were touched first, and that had to be read from a disk.
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;

  [[nodiscard]] static thread_usage read() noexcept;
  /// `processor` alone: one system call.
  [[nodiscard]] static duration read_processor() noexcept;
  friend thread_usage operator-(const thread_usage& late, const thread_usage& early) noexcept;
};

}  // namespace weft::realtime
