// Memory that runs out when it is told to: for tests of what remains then.
//
// Problem: the branch behind a failed allocation runs for the first time in production. Contract:
// while one lives, the first allocation of at least so many bytes by this thread fails, once:
// malloc() gives nothing, operator new throws std::bad_alloc, mmap() fails for memory without a
// file. One at a time. Counts on the malloc of allocation_counter.hpp; a sanitizer brings its own,
// which cannot be told.
//
//   const weft::testing::allocation_failure once{1 << 20};
//   EXPECT_THROW(std::string(1 << 20, 'x'), std::bad_alloc);
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::testing {

class allocation_failure {
 public:
  [[nodiscard]] static bool is_available() noexcept;

  explicit allocation_failure(std::size_t from_bytes) noexcept;
  allocation_failure(const allocation_failure&) = delete;
  allocation_failure& operator=(const allocation_failure&) = delete;
  ~allocation_failure();
};

/// Which allocations fail from the first one of allocation_failures on.
enum class failing : std::uint8_t { once, for_good };

/// The n-th allocation of this thread, of any size and by whatever call, fails, and where it is
/// for_good all after it as well: for sweeps, which end where none has failed. Frames that the pool
/// has are no allocations; pages that it asks the system for are. One at a time, without an
/// allocation_failure.
class allocation_failures {
 public:
  /// `nth`: from 1.
  allocation_failures(std::uint64_t nth, failing how) noexcept;
  allocation_failures(const allocation_failures&) = delete;
  allocation_failures& operator=(const allocation_failures&) = delete;
  ~allocation_failures();

  /// Whether there were so many.
  [[nodiscard]] bool has_failed() const noexcept;
};

}  // namespace weft::testing
