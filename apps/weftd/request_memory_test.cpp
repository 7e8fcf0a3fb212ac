#include <apps/weftd/request_memory.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>

namespace weftd {
namespace {

TEST(request_memory, is_kept_for_the_next_request) {
  request_memory_pool pool;
  const request_memory* first = nullptr;
  {
    const auto memory = pool.take();
    first = memory.get();
    memory->reply.assign(10'000, 'r');
  }
  const auto next = pool.take();
  EXPECT_EQ(next.get(), first);
  EXPECT_TRUE(next->reply.empty());
  EXPECT_GE(next->reply.capacity(), 10'000U);
}

TEST(request_memory, of_a_large_reply_is_given_up) {
  request_memory_pool pool;
  { pool.take()->reply.assign(2 * request_memory::kept_bytes, 'r'); }
  EXPECT_LT(pool.take()->reply.capacity(), request_memory::kept_bytes);
}

TEST(request_memory, a_long_reply_is_set_aside_in_parts_that_are_never_copied) {
  const auto loop = weft::event_loop::create({.backend = weft::backend_kind::simulated});
  ASSERT_TRUE(loop.has_value());
  request_memory_pool pool;
  (*loop)->spawn([](request_memory_pool& memories) -> weft::task<void> {
    const auto memory = memories.take();
    const std::string row(100'000, 'r');
    for (std::size_t rows = 1; rows <= 100; ++rows) {
      memory->reply += row;
      EXPECT_TRUE(memory->has_room());
      EXPECT_EQ(memory->reply_bytes(), rows * row.size());
      EXPECT_LE(memory->reply.capacity(), 2 * request_memory::part_bytes);
    }
    EXPECT_GE(weft::event_loop::current().memory().gauges().bytes[std::to_underlying(
                  weft::memory_kind::replies)],
              100 * row.size());
    memory->give_up_reply();
    EXPECT_EQ(memory->reply_bytes(), 0U);
    EXPECT_EQ(weft::event_loop::current().memory().gauges().bytes[std::to_underlying(
                  weft::memory_kind::replies)],
              0U);
    co_return;
  }(pool));
  (*loop)->run();
}

TEST(request_memory, of_many_at_once_is_given_up) {
  request_memory_pool pool;
  std::vector<request_memory_pool::lease> at_once;
  for (std::size_t i = 0; i < 3 * request_memory_pool::kept; ++i) {
    at_once.push_back(pool.take());
    at_once.back()->document.assign(10'000, 'd');
  }
  at_once.clear();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < 3 * request_memory_pool::kept; ++i) {
    at_once.push_back(pool.take());
    if (at_once.back()->document.capacity() >= 10'000) ++kept;
  }
  EXPECT_EQ(kept, request_memory_pool::kept);
}

TEST(request_memory, of_many_large_ones_at_once_is_given_up) {
  request_memory_pool pool;
  std::vector<request_memory_pool::lease> at_once;
  const auto take_all = [&] {
    std::size_t held_bytes = 0;
    for (std::size_t i = 0; i < request_memory_pool::kept; ++i) {
      at_once.push_back(pool.take());
      held_bytes += at_once.back()->held_bytes();
    }
    return held_bytes;
  };
  EXPECT_LT(take_all(), 1000U);
  for (const auto& each : at_once) {
    each->document.assign(50'000, 'd');
    std::ignore = each->room.make(100'000);
  }
  at_once.clear();
  const std::size_t held_bytes = take_all();
  EXPECT_GT(held_bytes, 300'000U);
  EXPECT_LE(held_bytes, request_memory_pool::kept_bytes);
}

TEST(request_memory, has_vectors_of_its_own) {
  request_memory_pool pool;
  const auto memory = pool.take();
  const using_memory here{*memory};
  request_vector<int> numbers;
  for (int i = 0; i < 1'000; ++i) numbers.push_back(i);
  EXPECT_EQ(numbers[999], 999);
}

}  // namespace
}  // namespace weftd
