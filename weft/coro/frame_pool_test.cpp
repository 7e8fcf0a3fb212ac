#include <weft/coro/frame_pool.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include <weft/base/random.hpp>
#include <weft/base/sanitizers.hpp>

namespace weft::frame_pool {
namespace {

constexpr std::size_t largest_pooled_bytes = 4096;

TEST(frame_pool, counts_live_frames) {
  const std::size_t before = live_frames();
  void* const small = allocate(1);
  void* const large = allocate(largest_pooled_bytes + 1);
  EXPECT_EQ(live_frames(), before + 2);
  deallocate(small, 1);
  EXPECT_EQ(live_frames(), before + 1);
  deallocate(large, largest_pooled_bytes + 1);
  EXPECT_EQ(live_frames(), before);
}

TEST(frame_pool, frames_are_aligned_and_do_not_overlap) {
  random random{1};
  struct frame {
    unsigned char* memory;
    std::size_t size_bytes;
    unsigned char mark;
  };
  std::vector<frame> frames;
  for (int round = 0; round < (WEFT_SANITIZED ? 2'000 : 20'000); ++round) {
    if (!frames.empty() && random.chance(1, 2)) {
      std::swap(frames[random.below(frames.size())], frames.back());
      const frame last = frames.back();
      frames.pop_back();
      for (std::size_t i = 0; i < last.size_bytes; ++i) ASSERT_EQ(last.memory[i], last.mark);
      deallocate(last.memory, last.size_bytes);
    } else {
      const auto size_bytes = random.between<std::size_t>(1, largest_pooled_bytes + 256);
      const auto mark = static_cast<unsigned char>(random.next());
      auto* const memory = static_cast<unsigned char*>(allocate(size_bytes));
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignof(std::max_align_t), 0U);
      std::memset(memory, mark, size_bytes);
      frames.push_back({memory, size_bytes, mark});
    }
  }
  for (const frame& left : frames) deallocate(left.memory, left.size_bytes);
}

TEST(frame_pool, the_last_frame_freed_is_the_next_one_lent) {
  if (WEFT_ADDRESS_SANITIZER != 0) GTEST_SKIP() << "there every frame is a heap block";
  void* const first = allocate(250);
  void* const second = allocate(250);
  deallocate(first, 250);
  deallocate(second, 250);
  // 241 to 256 bytes are one size class.
  void* const warm = allocate(256);
  void* const cooler = allocate(241);
  EXPECT_EQ(warm, second);
  EXPECT_EQ(cooler, first);
  deallocate(warm, 256);
  deallocate(cooler, 241);
}

TEST(frame_pool, a_frame_that_could_not_be_had_is_not_counted) {
  if (WEFT_SANITIZED) GTEST_SKIP() << "sanitizers end the program instead of throwing";
  const std::size_t before = live_frames();
  volatile std::size_t too_much = std::numeric_limits<std::size_t>::max() / 4;
  EXPECT_THROW(std::ignore = allocate(too_much), std::bad_alloc);
  EXPECT_EQ(live_frames(), before);
}

TEST(frame_pool, says_how_much_is_alive) {
  if (WEFT_ADDRESS_SANITIZER != 0) GTEST_SKIP() << "there every frame is a heap block";
  const std::size_t before = live_bytes();
  void* const small = allocate(1);
  void* const large = allocate(largest_pooled_bytes);
  EXPECT_EQ(live_bytes(), before + 16 + largest_pooled_bytes);
  deallocate(small, 1);
  EXPECT_EQ(live_bytes(), before + largest_pooled_bytes);
  deallocate(large, largest_pooled_bytes);
  EXPECT_EQ(live_bytes(), before);
}

/// Frames of many sizes, as a crowd of connections has them.
std::vector<std::pair<void*, std::size_t>> make_crowd(std::size_t frames) {
  std::vector<std::pair<void*, std::size_t>> crowd;
  random random{7};
  for (std::size_t i = 0; i < frames; ++i) {
    const auto size_bytes = random.between<std::size_t>(1, largest_pooled_bytes);
    crowd.emplace_back(allocate(size_bytes), size_bytes);
  }
  return crowd;
}

/// How many slices that took.
std::size_t trim_all(std::size_t blocks_max) {
  std::size_t slices = 1;
  while (trim(blocks_max)) ++slices;
  return slices;
}

TEST(frame_pool, gives_back_what_a_peak_has_left) {
  if (WEFT_ADDRESS_SANITIZER != 0) GTEST_SKIP() << "there every frame is a heap block";
  std::ignore = trim_all(1'000'000);
  const std::size_t held = held_bytes();
  const auto crowd = make_crowd(20'000);
  EXPECT_GT(held_bytes(), held + 20'000'000);
  for (const auto& [memory, size_bytes] : crowd) deallocate(memory, size_bytes);
  EXPECT_GT(held_bytes(), held + 20'000'000) << "for the next frames";
  EXPECT_GT(trim_all(512), 30U) << "a little at a time";
  EXPECT_LE(held_bytes(), held);
}

TEST(frame_pool, keeps_slabs_with_a_live_frame_and_uses_them_again) {
  if (WEFT_ADDRESS_SANITIZER != 0) GTEST_SKIP() << "there every frame is a heap block";
  constexpr std::size_t size_bytes = 1'000;
  std::vector<void*> all;
  for (std::size_t i = 0; i < 1'000; ++i) {
    all.push_back(allocate(size_bytes));
    std::memset(all.back(), static_cast<int>(i % 256), size_bytes);
  }
  for (std::size_t i = 0; i < 1'000; ++i)
    if (i % 10 != 0) deallocate(all[i], size_bytes);
  std::ignore = trim_all(100);
  const std::size_t held = held_bytes();
  for (std::size_t i = 0; i < 1'000; ++i)
    if (i % 10 != 0) all[i] = allocate(size_bytes);
  EXPECT_EQ(held_bytes(), held) << "what was sorted is lent again";
  for (std::size_t i = 0; i < 1'000; i += 10)
    EXPECT_EQ(*static_cast<unsigned char*>(all[i]), static_cast<unsigned char>(i));
  for (void* const each : all) deallocate(each, size_bytes);
}

TEST(frame_pool, may_be_used_between_two_slices) {
  if (WEFT_ADDRESS_SANITIZER != 0) GTEST_SKIP() << "there every frame is a heap block";
  auto crowd = make_crowd(5'000);
  for (const auto& [memory, size_bytes] : crowd) deallocate(memory, size_bytes);
  const std::size_t live = live_bytes();
  while (trim(64)) {
    crowd = make_crowd(20);
    for (const auto& [memory, size_bytes] : crowd) std::memset(memory, 0x5a, size_bytes);
    for (const auto& [memory, size_bytes] : crowd) deallocate(memory, size_bytes);
    ASSERT_EQ(live_bytes(), live);
  }
}

TEST(frame_pool, each_thread_has_its_own) {
  void* const mine = allocate(100);
  const std::size_t here = live_frames();
  std::size_t at_first = 1;
  std::size_t meanwhile = 0;
  std::thread{[&] {
    at_first = live_frames();
    void* const theirs = allocate(100);
    meanwhile = live_frames();
    EXPECT_NE(theirs, mine);
    deallocate(theirs, 100);
  }}.join();
  EXPECT_EQ(at_first, 0U);
  EXPECT_EQ(meanwhile, 1U);
  EXPECT_EQ(live_frames(), here);
  deallocate(mine, 100);
}

}  // namespace
}  // namespace weft::frame_pool
