// Proof that a path allocates nothing: how often this thread has asked for heap memory since.
//
// Problem: one hidden allocation a request is invisible in a review and dear in production.
// Contract: a program that links weft::testing and uses this counts every malloc, calloc, realloc
// and aligned allocation of each thread, and so every operator new, whichever library calls it;
// what is pooled by weft (coroutine frames, buffers) is not counted once the pool is warm. Counting
// costs an addition and is always on. Sanitizers bring their own malloc: there its hooks count, and
// coroutine frames, which AddressSanitizer builds take from the heap one by one, count too;
// ThreadSanitizer does not tell of aligned_alloc(). Needs glibc. A counter belongs to the thread
// that made it.
//
//   weft::testing::allocation_counter since;
//   serve_one_request();
//   EXPECT_EQ(since.allocations(), 0U);
#pragma once

#include <cstdint>

namespace weft::testing {

class allocation_counter {
 public:
  /// Counts from now on.
  allocation_counter() noexcept;

  /// Blocks asked for; growing one in place counts as asking.
  [[nodiscard]] std::uint64_t allocations() const noexcept;
  /// Bytes asked for, whether given back or not.
  [[nodiscard]] std::uint64_t allocated_bytes() const noexcept;
  /// Blocks given back.
  [[nodiscard]] std::uint64_t frees() const noexcept;

 private:
  std::uint64_t allocations_before_;
  std::uint64_t bytes_before_;
  std::uint64_t frees_before_;
};

}  // namespace weft::testing
