// A log for threads that must not wait: lines are left by one thread, and formatted and written by
// another.
//
// Problem: to format a line allocates and takes microseconds, and to write it is a system call
// behind a lock: a task with a deadline can do neither, and so says nothing of what went wrong.
// Contract: write() copies the values into a record of 256 bytes, in a ring that is taken and
// touched when the log is made. It is wait-free: no lock, no allocation, no system call, whatever
// the other side does. (The time is that of the vDSO; where the kernel's clock source is not one
// that a program can read, that is a system call.) One thread writes at a time. A thread of the
// log's own, which no signal interrupts and no policy hurries, looks for lines each `poll`, and
// gives them to weft::log with the time of day, UTC, at which they were written. A line that finds
// the ring full is lost and counted, and told of where it is missing: "12 lines lost". The
// destructor, which waits, comes after the last write(), and ends when all has been given on. A
// child that is forked has no such thread: it must not destroy the log, and so ends by _exit() or
// exec().
//
// Texts of up to 47 bytes are copied whole, of longer ones the first 44; other values are to be
// trivially copyable, and what they point to outlives the log. The format is checked when it is
// compiled. Beside <format>, which this includes, std::formatter of a value's type is called by the
// log's thread.
//
//   realtime::deferred_log log{{.name = "control"}};
//   log.write(log::level::warning, "valve {} is at {:.1f} %", valve, percent);
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <format>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <weft/base/log.hpp>
#include <weft/base/time.hpp>
#include <weft/realtime/deferred_line.hpp>

namespace weft::realtime {

struct deferred_log_options {
  /// Of the logger; copied.
  std::string_view name{};
  /// So many lines may wait, of 256 bytes each: a power of two.
  std::size_t lines = 1024;
  /// How long a line waits at most, unless the system is busy; more than zero, a day at most.
  duration poll = std::chrono::milliseconds{10};
};

class deferred_log {
 public:
  /// Takes and touches the memory, and starts the thread. Throws std::invalid_argument for options
  /// that are not as they say, std::bad_alloc, and std::system_error where there is no thread.
  explicit deferred_log(const deferred_log_options& options);
  deferred_log(const deferred_log&) = delete;
  deferred_log& operator=(const deferred_log&) = delete;
  ~deferred_log();

  /// A line of this level, if the program's log has it now.
  template <class... Values>
  void write(log::level at, std::format_string<const shown_as<Values>&...> text,
             const Values&... values) noexcept {
    if (!log::enabled(at)) return;
    deferred_line* const line = claim(at);
    if (line == nullptr) return;
    line->put(text.get(), values...);
    publish();
  }

  /// Lines that found the ring full. Any thread.
  [[nodiscard]] std::uint64_t lost() const noexcept {
    return lost_.load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] deferred_line* claim(log::level at) noexcept;
  void publish() noexcept;

  void work() noexcept;
  void drain() noexcept;
  void give_on(const deferred_line& line) const noexcept;
  void tell_losses(std::uint64_t all) noexcept;

  const std::string name_;
  const duration poll_;
  const std::size_t size_;
  const std::unique_ptr<deferred_line[]> ring_;
  // The writer's line of the cache. Indices grow for ever.
  alignas(64) std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::uint64_t taken_seen_ = 0;
  // The log's thread's.
  alignas(64) std::atomic<std::uint64_t> taken_{0};
  std::uint64_t told_ = 0;  // of those that were lost
  std::mutex lock_;
  std::condition_variable ending_;
  bool ends_ = false;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace weft::realtime
