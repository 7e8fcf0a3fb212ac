// Which task a thread runs, for whoever finds that it runs for too long.
//
// Contract: whatever resumes a coroutine does so by detail::resume() (task.hpp), which notes it
// here; whoever runs what is ready forgets it afterwards. `coroutine` is the thread's own. The
// place is static data and may be read by any thread while this one lives.
//
//   const std::source_location from = detail::running.resumed_at.load(std::memory_order_relaxed);
#pragma once

#include <atomic>
#include <source_location>

namespace weft::detail {

class promise_base;

struct running_task {
  void forget() noexcept {
    coroutine = nullptr;
    resumed_at.store({}, std::memory_order_relaxed);
  }

  /// The one that was resumed or, when that has ended, the one that waited for it. nullptr: none,
  /// or the task has ended.
  promise_base* coroutine = nullptr;
  /// Where it had waited, or where its body begins. Line 0: no task runs.
  std::atomic<std::source_location> resumed_at{};
};

extern constinit thread_local running_task running;

}  // namespace weft::detail
