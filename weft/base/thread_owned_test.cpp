#include <weft/base/thread_owned.hpp>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include <gtest/gtest.h>

namespace weft {
namespace {

std::atomic<int> alive = 0;

struct counted_one {
  counted_one() { ++alive; }
  counted_one(const counted_one&) = delete;
  counted_one& operator=(const counted_one&) = delete;
  ~counted_one() { --alive; }
  int value = 0;
};

TEST(thread_owned, is_one_object_of_each_thread_and_ends_with_it) {
  using own = thread_owned<counted_one>;
  for (int i = 0; i < 3; ++i)
    std::thread{[i] {
      EXPECT_EQ(own::find(), nullptr);
      EXPECT_EQ(own::here().value, 0);
      own::here().value = i;
      EXPECT_EQ(own::find(), &own::here());
      EXPECT_EQ(own::here().value, i);
      EXPECT_EQ(alive, 1);
    }}.join();
  EXPECT_EQ(alive, 0);
}

/// There is no memory for the first one of a thread.
struct late_one {
  static void* operator new(std::size_t size_bytes) {
    if (is_short) throw std::bad_alloc{};
    return std::malloc(size_bytes);
  }
  static void operator delete(void* gone) { std::free(gone); }
  static inline bool is_short = true;
};

TEST(thread_owned, is_made_when_there_is_memory_for_it) {
  std::thread{[] {
    using own = thread_owned<late_one>;
    EXPECT_THROW(static_cast<void>(own::here()), std::bad_alloc);
    EXPECT_EQ(own::find(), nullptr);
    late_one::is_short = false;
    EXPECT_NE(&own::here(), nullptr);
  }}.join();
}

/// What ends later may have used it.
struct using_another {
  ~using_another() { thread_owned<counted_one>::here().value = 1; }
};

TEST(thread_owned, that_is_used_again_while_its_thread_ends_ends_as_well) {
  std::thread{[] {
    static_cast<void>(thread_owned<counted_one>::here());
    static_cast<void>(thread_owned<using_another>::here());
  }}.join();
  EXPECT_EQ(alive, 0);
}

TEST(thread_end, is_told_of_once_a_thread_with_what_was_given_last) {
  static int first = 0;
  static int last = 0;
  static const thread_end end{[](void* what) { ++*static_cast<int*>(what); }};
  std::thread{[] {
    EXPECT_TRUE(end.call_with(&first));
    EXPECT_TRUE(end.call_with(&last));
  }}.join();
  std::thread{[] {}}.join();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(last, 1);
}

}  // namespace
}  // namespace weft
