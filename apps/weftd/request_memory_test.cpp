#include <apps/weftd/request_memory.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

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
