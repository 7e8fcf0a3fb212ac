#include <weft/realtime/allocation_guard.hpp>

#include <gtest/gtest.h>

#include <malloc.h>

#include <cstdint>
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
    const std::uint64_t after = guard.allocations();
    std::free(block);
    return after - before;
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
    const std::uint64_t by_page = see([] { return ::valloc(64); });
    const std::uint64_t by_whole_pages = see([] { return ::pvalloc(64); });
    EXPECT_EQ(aligned, 1U);
    EXPECT_EQ(posix, 1U);
    EXPECT_EQ(by_page, 1U);
    EXPECT_EQ(by_whole_pages, 1U);
  }
}

TEST(allocation_guard, sees_none_in_what_calloc_cannot_even_ask_for) {
  if (WEFT_SANITIZED != 0) GTEST_SKIP() << "sanitizers end the program";
  const allocation_guard guard{on_allocation::count};
  const volatile std::size_t count = SIZE_MAX / 2;
  void* volatile const block = std::calloc(count, 4);
  const std::uint64_t bytes = guard.bytes();
  EXPECT_EQ(block, nullptr);
  EXPECT_EQ(bytes, 0U);
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

TEST(allocation_guard, may_end_before_those_that_were_made_after_it) {
  auto first = std::make_unique<allocation_guard>(on_allocation::count);
  auto second = std::make_unique<allocation_guard>(on_allocation::count);
  auto third = std::make_unique<allocation_guard>(on_allocation::count);
  const auto seen_by = [](const allocation_guard& guard) {
    const std::uint64_t before = guard.allocations();
    allocate(100);
    return guard.allocations() - before;
  };
  second.reset();
  const std::uint64_t by_third = seen_by(*third);
  first.reset();
  const std::uint64_t by_third_alone = seen_by(*third);
  third.reset();
  allocate(100);
  EXPECT_EQ(by_third, 1U);
  EXPECT_EQ(by_third_alone, 1U);
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

TEST(allocation_guard_death_test, ends_where_it_was_made) {
  EXPECT_DEATH(
      {
        auto guard = std::make_unique<allocation_guard>(on_allocation::count);
        std::thread{[&] { guard.reset(); }}.join();
      },
      "on the thread that made it");
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
