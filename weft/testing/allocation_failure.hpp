// Memory that runs out when it is told to: for tests of what remains then.
//
// Problem: the branch behind a failed allocation runs for the first time in production. Contract:
// while one lives, the first allocation of at least so many bytes by this thread fails, once:
// malloc() gives nothing, operator new throws std::bad_alloc. One at a time. Counts on the malloc
// of allocation_counter.hpp; a sanitizer brings its own, which cannot be told.
//
//   const weft::testing::allocation_failure once{1 << 20};
//   EXPECT_THROW(std::string(1 << 20, 'x'), std::bad_alloc);
#pragma once

#include <cstddef>

namespace weft::testing {

class allocation_failure {
 public:
  [[nodiscard]] static bool is_available() noexcept;

  explicit allocation_failure(std::size_t from_bytes) noexcept;
  allocation_failure(const allocation_failure&) = delete;
  allocation_failure& operator=(const allocation_failure&) = delete;
  ~allocation_failure();
};

}  // namespace weft::testing
