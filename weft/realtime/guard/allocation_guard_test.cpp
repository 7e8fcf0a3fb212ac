#include <weft/realtime/allocation_guard.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <weft/base/log.hpp>
#include <weft/base/sanitizers.hpp>

namespace weft::realtime {
namespace {

/// Not seen through by the compiler.
void allocate(std::size_t bytes) {
  void* volatile const block = ::operator new(bytes);
  ::operator delete(block);
}

TEST(allocation_guard, sees_every_way_to_allocate) {
  EXPECT_TRUE(allocation_guard::is_watched());
  const allocation_guard guard{on_allocation::count};
  const auto see = [&](auto how) {
    const std::uint64_t before = guard.allocations();
    void* volatile const block = how();
    // To a compiler that knows what malloc() is, it changes nothing that can be read.
    __asm__ volatile("" ::: "memory");
    std::free(block);
    return guard.allocations() - before;
  };
  const std::uint64_t by_malloc = see([] { return std::malloc(10); });
  const std::uint64_t by_calloc = see([] { return std::calloc(10, 10); });
  const std::uint64_t by_realloc = see([] { return std::realloc(nullptr, 10); });
  EXPECT_EQ(by_malloc, 1U);
  EXPECT_EQ(by_calloc, 1U);
  EXPECT_EQ(by_realloc, 1U);
  if (WEFT_SANITIZED == 0) {
    const std::uint64_t aligned = see([] { return std::aligned_alloc(64, 64); });
    const std::uint64_t posix = see([] {
      void* made = nullptr;
      return ::posix_memalign(&made, 64, 64) == 0 ? made : nullptr;
    });
    EXPECT_EQ(aligned, 1U);
    EXPECT_EQ(posix, 1U);
  }
}

TEST(allocation_guard, counts_bytes_of_its_thread_while_it_lives) {
  std::uint64_t seen = 0;
  std::uint64_t bytes = 0;
  {
    const allocation_guard guard{on_allocation::count};
    allocate(100);
    seen = guard.allocations();
    bytes = guard.bytes();
  }
  EXPECT_EQ(seen, 1U);
  EXPECT_EQ(bytes, 100U);
  std::thread other;
  {
    const allocation_guard guard{on_allocation::count};
    const allocation_guard inner{on_allocation::allow};
    other = std::thread{[] { allocate(100); }};
    allocate(100);
    seen = guard.allocations() + inner.allocations();
  }
  other.join();
  EXPECT_EQ(seen, 0U) << "the inner one allows them";
}

TEST(allocation_guard, logs_each_and_not_those_of_the_log) {
  static std::vector<std::string> lines;
  log::set_sink([](log::level, std::string_view line, void*) { lines.emplace_back(line); },
                nullptr);
  {
    const allocation_guard guard{on_allocation::log};
    allocate(64);
    allocate(65);
  }
  log::set_sink(nullptr, nullptr);
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "64 bytes are allocated on a thread that is not to allocate, by what is no "
                       "task",
                       "65 bytes are allocated on a thread that is not to allocate, by what is no "
                       "task"}));
}

TEST(allocation_guard_death_test, aborts) {
  EXPECT_DEATH(
      {
        const allocation_guard guard{on_allocation::abort};
        allocate(77);
      },
      "77 bytes are allocated on a thread that is not to allocate");
}

}  // namespace
}  // namespace weft::realtime
