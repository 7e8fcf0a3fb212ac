// Threads that wait for files, since epoll cannot: a regular file is always ready, and blocks all
// the same.
//
// Contract: at most `threads_most`, made when first needed, ended with this. Operations wait in a
// line, first in, first out, for as long as nobody cancels them; one that a thread has begun is
// waited for. All calls come from the loop's thread; finished operations are fetched by reap(),
// which the loop is woken for.
//
//   if (files.start(op)) use(op.result);
//   files.reap(ready);                            // when woken
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/coro/ready_queue.hpp>
#include <weft/loop/file_operation.hpp>

namespace weft {

class file_threads {
 public:
  static constexpr std::size_t threads_most = 4;

  /// `wake_fd` is an eventfd that the loop watches.
  explicit file_threads(int wake_fd) noexcept : wake_{wake_fd} {}
  file_threads(const file_threads&) = delete;
  file_threads& operator=(const file_threads&) = delete;
  /// No operation may be left.
  ~file_threads();

  /// True: answered at once, since no thread is to be had: a file is closed here then, and all else
  /// fails with EAGAIN.
  [[nodiscard]] bool start(file_operation& op) noexcept;
  /// Whether `op` had not begun: it is then out of the line, and the caller's to answer.
  [[nodiscard]] bool withdraw(file_operation& op) noexcept;
  /// Queues the answers of what has been done since the last call.
  void reap(ready_queue& ready) noexcept;
  /// Operations not yet answered.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Calls `see` with each of them, and its file.
  template <class F>
  void for_each_waiting(F see) {
    for (const file_operation& each : all_) see(each, each.fd);
  }

 private:
  using line = intrusive_list<file_operation, &file_operation::in_line>;
  [[nodiscard]] bool has_thread_for(std::size_t operations) noexcept;
  void forget(file_operation& op) noexcept;
  void work() noexcept;

  int wake_;
  std::size_t count_ = 0;
  intrusive_list<file_operation, &listed_operation::listed> all_;  // the loop's own
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  line waiting_;  // under mutex_, as what follows
  line done_;
  bool ending_ = false;
};

}  // namespace weft
