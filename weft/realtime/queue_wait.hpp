// How long a thread has waited for a processor that it wanted.
//
// Problem: a thread that is off its processor may be waiting for what it asked for, or for others
// to let it on; counts of switches say how often each was, and not for how long. Contract: of the
// thread that makes it, as the kernel counts it (/proc/thread-self/schedstat, the second field): a
// descriptor while it lives, and a system call for each look, 0.8 us. Nothing here fails: a kernel
// that does not count (CONFIG_SCHED_INFO) has nothing to say.
//
//   const queue_wait waits;
//   const auto before = waits.so_far();
//   work();
//   if (before) record(*waits.so_far() - *before);
#pragma once

#include <optional>

#include <weft/base/time.hpp>

namespace weft::realtime {

class queue_wait {
 public:
  queue_wait() noexcept;
  queue_wait(const queue_wait&) = delete;
  queue_wait& operator=(const queue_wait&) = delete;
  ~queue_wait();

  /// Since the thread began. None: the kernel does not say, now or ever.
  [[nodiscard]] std::optional<duration> so_far() const noexcept;

 private:
  int file_;
};

}  // namespace weft::realtime
