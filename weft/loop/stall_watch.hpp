// Sees that a task keeps its loop, and says which: all else on that shard waits meanwhile.
//
// Contract: a thread of its own looks at each loop that was made with loop_options::watched_by,
// twice within `limit`. When a turn has lasted longer than that, the loop itself says so as soon as
// what keeps it returns: a warning with the whole await chain of the task. If it has not returned
// after ten times the limit, this says where the task was resumed, since a chain is its thread's
// alone. At most a warning a second for each loop. It costs a loop two stores a turn and a few
// instructions a resumption. A turn of many short tasks can be as long as one of a long task: the
// one that runs when it is noticed is named. A loop that the system gives no processor looks the
// same. When all loops have slept for a while, so does the thread, until the first of them has
// work: an idle program wakes for nothing. Outlives its loops; not for simulated ones, whose time
// is not ours.
//
//   stall_watch watch{std::chrono::milliseconds{100}};
//   auto loop = event_loop::create({.watched_by = &watch});
//   // shard 0 was kept for 312 ms by a task, resumed in serve(...) at server.cpp:31,
//   // now in serve(...) at server.cpp:31 > compress(...) at server.cpp:77
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <weft/base/time.hpp>

namespace weft {

class event_loop;

class stall_watch {
 public:
  /// `limit`: a millisecond at least. Throws std::system_error when there is no thread to be had.
  explicit stall_watch(duration limit);
  stall_watch(const stall_watch&) = delete;
  stall_watch& operator=(const stall_watch&) = delete;
  ~stall_watch();

  [[nodiscard]] duration limit() const noexcept { return limit_; }
  /// Whether the thread sleeps until a loop has work. Any thread.
  [[nodiscard]] bool dozes() const noexcept { return dozes_.load(std::memory_order_relaxed); }

 private:
  friend class event_loop;
  struct watched {
    event_loop* loop;
    std::uint64_t turn = 0;
    time_point since{};     // it was in that turn
    time_point asked_at{};  // the loop to say what keeps it
    bool has_told = false;  // of this turn
  };

  void enlist(event_loop& loop);
  void discharge(event_loop& loop) noexcept;
  /// A loop, that it works again.
  void rouse() noexcept;
  void work();
  [[nodiscard]] bool look();
  [[nodiscard]] bool look_at(watched& one, time_point now);
  void doze(std::unique_lock<std::mutex>& lock);

  duration limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<watched> loops_;      // under mutex_
  bool ends_ = false;               // under mutex_
  std::atomic<bool> dozes_{false};  // written under mutex_
  std::thread thread_;
};

/// Any thread: where the task that `loop` runs now was resumed. Empty: it runs none.
[[nodiscard]] std::string task_at_work(event_loop& loop);

}  // namespace weft
