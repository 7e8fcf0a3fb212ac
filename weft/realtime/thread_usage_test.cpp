#include <weft/realtime/thread_usage.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <thread>

namespace weft::realtime {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t page_bytes = 4096;

TEST(thread_usage, work_takes_processor_time_and_waiting_none) {
  const thread_usage before = thread_usage::read();
  const time_point until = std::chrono::steady_clock::now() + milliseconds{20};
  std::this_thread::sleep_until(until);
  const thread_usage waited = thread_usage::read() - before;
  EXPECT_LT(waited.processor, milliseconds{20});
  EXPECT_GE(waited.waits, 1);
  while ((thread_usage::read() - before).processor < waited.processor + milliseconds{2}) {}
}

TEST(thread_usage, a_page_that_is_touched_first_is_a_fault) {
  constexpr std::size_t pages = 64;
  void* const room = ::mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  ::madvise(room, pages * page_bytes, MADV_NOHUGEPAGE);
  const thread_usage before = thread_usage::read();
  for (std::size_t i = 0; i < pages; ++i)
    static_cast<volatile std::byte*>(room)[i * page_bytes] = std::byte{1};
  EXPECT_GE((thread_usage::read() - before).minor_faults, 64);
  ::munmap(room, pages * page_bytes);
}

TEST(thread_usage, is_the_calling_threads_own) {
  const thread_usage before = thread_usage::read();
  std::thread{[&] {
    const thread_usage began = thread_usage::read();
    while ((thread_usage::read() - began).processor < milliseconds{5}) {}
    EXPECT_LT(began.processor, milliseconds{5} + before.processor);
  }}.join();
  EXPECT_LT((thread_usage::read() - before).processor, milliseconds{5});
}

}  // namespace
}  // namespace weft::realtime
