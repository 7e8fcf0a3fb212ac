#include <weft/loop/memory_return.hpp>

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/base/sanitizers.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/loop/blocking.hpp>
#include <weft/loop/loop_fixture_test.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/allocation_failure.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

/// Time is virtual there.
class memory_return_test : public in_memory {
 protected:
  /// 20 MiB of frames that come and go in many resumptions, as those of connections do.
  task<void> pass_a_peak() {
    std::vector<void*> frames;
    for (int i = 0; i < 10'000; ++i) {
      frames.push_back(frame_pool::allocate(2'000));
      if (i % 100 == 0) co_await yield{*loop_};
    }
    at_peak_ = frame_pool::held_bytes();
    for (void* const each : frames) frame_pool::deallocate(each, 2'000);
  }

  /// Until `holds`, for a minute at most. Gives for how long.
  template <class F>
  task<duration> wait_until(F holds) {
    const time_point began = loop_->now();
    while (!holds() && loop_->now() < began + 1min) std::ignore = co_await sleep_for(*loop_, 100ms);
    co_return loop_->now() - began;
  }

  template <class F>
  void run(F body) {
    loop_->spawn(return_memory(*loop_));
    loop_->spawn([](event_loop& loop, F& test) -> task<void> {
      co_await test();
      loop.request_stop();
    }(*loop_, body));
    loop_->run();
  }

  std::size_t at_peak_ = 0;
};

TEST_F(memory_return_test, frames_come_back_within_a_minute_of_their_peak) {
  if (WEFT_ADDRESS_SANITIZER != 0) GTEST_SKIP() << "there every frame is a heap block";
  run([&]() -> task<void> {
    const std::size_t before = frame_pool::held_bytes();
    co_await pass_a_peak();
    EXPECT_GT(at_peak_, before + 10'000'000);
    EXPECT_LT(co_await wait_until([&] { return frame_pool::held_bytes() < before + 1'000'000; }),
              1min);
  });
}

/// A peak is passed after a minute's rest as well as before.
TEST_F(memory_return_test, looks_again_once_the_loop_has_worked) {
  if (WEFT_ADDRESS_SANITIZER != 0) GTEST_SKIP() << "there every frame is a heap block";
  run([&]() -> task<void> {
    const std::size_t before = frame_pool::held_bytes();
    for (int round = 0; round < 2; ++round) {
      std::ignore = co_await sleep_for(*loop_, 1min);
      co_await pass_a_peak();
      EXPECT_LT(co_await wait_until([&] { return frame_pool::held_bytes() < before + 1'000'000; }),
                1min)
          << round;
    }
  });
}

TEST_F(memory_return_test, an_idle_loop_does_nothing_but_look) {
  run([&]() -> task<void> {
    std::ignore = co_await sleep_for(*loop_, 1min);
    const std::uint64_t resumed = loop_->gauges().resumptions;
    std::ignore = co_await sleep_for(*loop_, 1h);
    EXPECT_LT(loop_->gauges().resumptions - resumed, 400U);
  });
}

TEST_F(memory_return_test, slots_are_zero_again_but_those_that_are_lent_next) {
  if (WEFT_ADDRESS_SANITIZER != 0) GTEST_SKIP() << "there free slots are poisoned";
  buffer_pool& pool = loop_->buffers();
  std::vector<buffer_ref> lent;
  for (int i = 0; i < 300; ++i) {
    lent.push_back(pool.acquire());
    std::memset(lent.back().data(), 'x', buffer_pool::slot_capacity);
  }
  std::vector<const char*> slots;
  for (const buffer_ref& each : lent) slots.push_back(each.data());
  while (!lent.empty()) lent.pop_back();  // the first is lent next
  for (std::size_t next = 0; next < pool.free_slots();) next = pool.trim(next, 32);
  for (std::size_t i = 0; i < slots.size(); ++i)
    EXPECT_EQ(*slots[i], i < buffer_pool::kept_slots ? 'x' : '\0') << i;
}

#ifdef __GLIBC__
TEST(memory_return, large_blocks_are_mappings_of_their_own_whatever_was_freed_before) {
  if (WEFT_SANITIZED) GTEST_SKIP() << "the malloc is a sanitizer's";
  map_large_blocks();
  constexpr std::size_t bytes = std::size_t{256} << 10U;  // of a part of a reply
  void* volatile larger = std::malloc(32 * bytes);
  std::free(larger);  // else glibc would now keep whatever is smaller in its heap
  const std::size_t before = ::mallinfo2().hblkhd;
  void* volatile block = std::malloc(bytes);
  EXPECT_GE(::mallinfo2().hblkhd, before + bytes);
  std::free(block);
  EXPECT_EQ(::mallinfo2().hblkhd, before);
}

constexpr std::size_t page_bytes = 4096;

/// Whether the page at `address` has memory.
bool is_resident(const void* address) {
  const auto page = reinterpret_cast<std::uintptr_t>(address) / page_bytes * page_bytes;
  unsigned char is = 0;
  return ::mincore(reinterpret_cast<void*>(page), page_bytes, &is) == 0 && (is & 1U) != 0;
}

/// Of 6 MiB in blocks that the heap holds, all of which are free again: what glibc keeps at its
/// end.
const void* late_page_of_a_peak() {
  constexpr std::size_t block_bytes = std::size_t{40} << 10U;
  std::vector<void*> blocks;
  for (int i = 0; i < 160; ++i) {
    blocks.push_back(std::malloc(block_bytes));
    std::memset(blocks.back(), 'x', block_bytes);
  }
  const void* const late = static_cast<char*>(blocks[150]) + page_bytes;
  for (void* const each : blocks) std::free(each);
  return late;
}

/// malloc_trim() gives back what lies between blocks in each heap, and the end of the first heap
/// only.
TEST(memory_return, a_thread_gives_back_the_end_of_its_heap) {
  if (WEFT_SANITIZED) GTEST_SKIP() << "the malloc is a sanitizer's";
  map_large_blocks();
  std::thread{[] {
    const void* const late = late_page_of_a_peak();
    ::malloc_trim(0);
    EXPECT_TRUE(is_resident(late)) << "nothing is to be shown then";
    trim_end_of_thread_heap();
    EXPECT_FALSE(is_resident(late));
  }}.join();
}

class memory_return_threads_test : public on_any_backend {};
INSTANTIATE_TEST_SUITE_P(backends, memory_return_threads_test, kernel_backends, backend_name);

TEST_P(memory_return_threads_test, idle_blocking_threads_give_back_the_ends_of_their_heaps) {
  if (WEFT_SANITIZED) GTEST_SKIP() << "the malloc is a sanitizer's";
  map_large_blocks();
  const void* late = nullptr;
  bool was_given_back = false;
  loop_->spawn(return_memory(*loop_, {.interval = 1ms}));
  loop_->spawn([](event_loop& loop, const void*& block, bool& given_back) -> task<void> {
    std::ignore = co_await blocking([&block] { block = late_page_of_a_peak(); });
    for (int i = 0; i < 20'000 && !given_back; ++i) {
      std::ignore = co_await sleep_for(loop, 1ms);
      given_back = !is_resident(block);
    }
    loop.request_stop();
  }(*loop_, late, was_given_back));
  loop_->run();
  EXPECT_TRUE(was_given_back);
}

/// It is no task of anybody's: its end would be the program's.
TEST_P(memory_return_threads_test, goes_on_when_there_was_no_memory_for_a_look) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "malloc is not ours here";
  map_large_blocks();
  loop_->spawn(return_memory(*loop_, {.interval = 1ms}));
  bool has_failed = false;
  loop_->spawn([](event_loop& loop, bool& failed) -> task<void> {
    std::optional<testing::allocation_failures> none{std::in_place, 1, testing::failing::for_good};
    while (!none->has_failed()) std::ignore = co_await sleep_for(loop, 1ms);
    failed = none->has_failed();
    std::ignore = co_await sleep_for(loop, 3ms);
    none.reset();
    EXPECT_FALSE((co_await this_task::environment()).stop.stop_requested());
    loop.request_stop();
  }(*loop_, has_failed));
  loop_->run();  // would throw
  EXPECT_TRUE(has_failed);
}
#endif

}  // namespace
}  // namespace weft
