// The threads behind blocking().
//
// Contract: a loop's, made at its first blocking call. submit() and take_back() are the loop's;
// what has been taken by a thread is posted back to the loop when it has been done. The destructor
// waits for the threads, and nothing may wait in line then.
//
//   if (auto taken = pool.submit(call); !taken) return taken;
//   if (pool.take_back(call)) resume(call);
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include <weft/base/intrusive_list.hpp>
#include <weft/loop/blocking.hpp>

namespace weft {

class blocking_pool {
 public:
  blocking_pool(event_loop& home, unsigned threads_max, std::size_t line_max);
  blocking_pool(const blocking_pool&) = delete;
  blocking_pool& operator=(const blocking_pool&) = delete;
  ~blocking_pool();

  /// errc::limit_exceeded: too many wait. Other errors: there is no thread, and none can be had.
  [[nodiscard]] result<void> submit(detail::blocking_call& call);
  /// True: no thread has come to it, and none will.
  [[nodiscard]] bool take_back(detail::blocking_call& call) noexcept;
  /// Each thread gives the end of its heap back once it has nothing to do.
  void trim_heaps() noexcept;

 private:
  void work();
  [[nodiscard]] result<void> add_thread();

  event_loop& home_;
  unsigned threads_max_;
  std::size_t line_max_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  std::condition_variable filled_;
  // All under mutex_.
  intrusive_list<detail::blocking_call, &detail::blocking_call::in_line_> line_;
  std::size_t waiting_ = 0;  // calls in line_
  std::size_t idle_ = 0;     // threads that wait for one
  std::size_t trims_ = 0;    // how often trim_heaps() was called
  bool ends_ = false;
};

}  // namespace weft
