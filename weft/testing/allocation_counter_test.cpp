#include <weft/testing/allocation_counter.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weft/testing/allocation_failure.hpp>

namespace weft::testing {
namespace {

/// Hides from the compiler what is done with a block, so that it keeps the allocation.
template <class T>
T* kept(T* memory) {
  asm volatile("" : "+r"(memory) : : "memory");
  return memory;
}

TEST(allocation_counter, counts_nothing_where_nothing_is_allocated) {
  const allocation_counter since;
  int sum = 0;
  for (int i = 0; i < 100; ++i) sum += *kept(&i);
  EXPECT_GT(sum, 0);
  EXPECT_EQ(since.allocations(), 0U);
  EXPECT_EQ(since.frees(), 0U);
  EXPECT_EQ(since.allocated_bytes(), 0U);
}

TEST(allocation_counter, counts_new_and_delete) {
  const allocation_counter since;
  delete kept(new int{1});
  EXPECT_EQ(since.allocations(), 1U);
  EXPECT_EQ(since.frees(), 1U);
  EXPECT_EQ(since.allocated_bytes(), sizeof(int));
}

TEST(allocation_counter, counts_what_libraries_allocate) {
  const allocation_counter since;
  std::free(kept(::strdup("the C library's")));
  EXPECT_EQ(since.allocations(), 1U);
  EXPECT_EQ(since.frees(), 1U);
  {
    std::string text;
    for (int i = 0; i < 1'000; ++i) text += *kept("x");
    kept(text.data());
  }
  EXPECT_GT(since.allocations(), 1U);
  EXPECT_EQ(since.frees(), since.allocations());
}

TEST(allocation_counter, counts_the_kinds_of_malloc) {
  const allocation_counter since;
  void* block = kept(std::malloc(8));
  EXPECT_EQ(since.allocations(), 1U);
  block = kept(std::realloc(block, 4'096));
  EXPECT_EQ(since.allocations(), 2U);
  std::free(block);
  std::free(kept(std::calloc(4, 8)));
  EXPECT_EQ(since.allocations(), 3U);
}

TEST(allocation_counter, counts_aligned_blocks) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer's hooks hear of operator new and malloc only";
#endif
#endif
  const allocation_counter since;
  std::free(kept(std::aligned_alloc(64, 128)));
  EXPECT_EQ(since.allocations(), 1U);
  void* aligned = nullptr;
  ASSERT_EQ(::posix_memalign(&aligned, 64, 128), 0);
  std::free(kept(aligned));
  EXPECT_EQ(since.allocations(), 2U);
}

TEST(allocation_counter, counts_over_aligned_objects) {
  struct alignas(128) wide {
    char bytes[128];
  };
  const allocation_counter since;
  delete kept(new wide);
  EXPECT_EQ(since.allocations(), 1U);
  EXPECT_EQ(since.frees(), 1U);
}

TEST(allocation_counter, counts_its_own_thread_only) {
  std::uint64_t there = 0;
  std::thread other;
  {
    std::vector<std::unique_ptr<int>> many;
    other = std::thread{[&] {
      const allocation_counter since;
      for (int i = 0; i < 100; ++i) many.push_back(std::make_unique<int>(i));
      there = since.allocations();
    }};
    const allocation_counter since;
    other.join();
    EXPECT_EQ(since.allocations(), 0U);
  }
  EXPECT_GE(there, 100U);
}

TEST(allocation_counter, counts_from_when_it_was_made) {
  const allocation_counter outer;
  delete kept(new int{1});
  const allocation_counter inner;
  delete kept(new int{2});
  EXPECT_EQ(outer.allocations(), 2U);
  EXPECT_EQ(inner.allocations(), 1U);
}

TEST(allocation_failures, are_the_nth_alone_or_all_from_there_on) {
  if (!allocation_failure::is_available()) GTEST_SKIP() << "the malloc is a sanitizer's";
  for (const failing how : {failing::once, failing::for_good}) {
    void* blocks[4] = {};
    bool has_failed = false;
    {
      const allocation_failures here{2, how};
      blocks[0] = kept(std::malloc(1));
      EXPECT_FALSE(here.has_failed());
      blocks[1] = kept(std::calloc(1, 1));
      blocks[2] = kept(std::realloc(nullptr, 1));
      blocks[3] = kept(std::aligned_alloc(64, 64));
      has_failed = here.has_failed();
    }
    EXPECT_TRUE(has_failed);
    EXPECT_NE(blocks[0], nullptr);
    EXPECT_EQ(blocks[1], nullptr);
    EXPECT_EQ(blocks[2] == nullptr, how == failing::for_good);
    EXPECT_EQ(blocks[3] == nullptr, how == failing::for_good);
    for (void* const each : blocks) std::free(each);
  }
}

}  // namespace
}  // namespace weft::testing
