// Sees that a thread allocates nothing from now on, or says that it did.
//
// Problem: one allocation in a task that runs ten thousand times a second is seen by nobody, until
// the heap has to ask the kernel and a deadline is missed. Contract: a program that links
// weft::realtime_guard as well has every malloc, calloc, realloc and aligned allocation of its
// threads looked at, and so every operator new, whichever library calls it; without that a guard
// sees nothing, and is_watched() says so. A guard is of the thread that made it, and ends on it, in
// any order with others; the one made last of those that are there counts. What weft takes from its
// pools is no allocation once they are warm. Each allocation of any thread costs a look at a
// thread_local more. glibc's heap, or a sanitizer's; mimalloc's operator new is not seen.
//
//   const allocation_guard guard{on_allocation::log};
//   while (co_await clock.next()) control();
//   guard.allocations();  // 0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::realtime {

enum class on_allocation : std::uint8_t {
  allow,
  count,
  log,    // a warning in the log, with the task that ran
  abort,  // and the end of the program, for a debugger or a core dump to show where
};

class allocation_guard {
 public:
  explicit allocation_guard(on_allocation rule) noexcept;
  allocation_guard(const allocation_guard&) = delete;
  allocation_guard& operator=(const allocation_guard&) = delete;
  ~allocation_guard();

  /// Whether this program has been linked with weft::realtime_guard.
  [[nodiscard]] static bool is_watched() noexcept;

  /// Of this thread, while this guard was the innermost.
  [[nodiscard]] std::uint64_t allocations() const noexcept { return counted(allocations_); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return counted(bytes_); }

  /// Called by what is linked for it, before each allocation: one that fails counts.
  static void note(std::size_t size_bytes) noexcept;
  /// Called by it once.
  static bool watch() noexcept;

 private:
  void tell(std::size_t size_bytes) const noexcept;

  /// As it is now. To a compiler, which knows what malloc() is, that changes nothing that can be
  /// read: it is not to keep what was read before, nor to read it later.
  static std::uint64_t counted(const std::uint64_t& count) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const std::uint64_t now = count;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return now;
  }

  on_allocation rule_;
  // A const guard counts as well.
  mutable const allocation_guard* outer_;
  mutable std::uint64_t allocations_ = 0;
  mutable std::uint64_t bytes_ = 0;
};

}  // namespace weft::realtime
