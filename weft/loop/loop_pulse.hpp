// What a loop shows of itself to who watches it from another thread: see stall_watch.hpp.
#pragma once

#include <atomic>

#include <weft/coro/running_task.hpp>

namespace weft {

struct loop_pulse {
  /// Whether a turn's work is under way: false while the kernel is asked, or the loop sleeps. The
  /// loop writes it.
  std::atomic<bool> is_working{false};
  /// Set by who watches. The loop sees it when what keeps it returns, or when it works again, says
  /// what kept it, and takes it back.
  std::atomic<bool> is_overdue{false};
  /// Of the loop's thread.
  const detail::running_task* running = &detail::running;
};

}  // namespace weft
