#include <weft/service/event_ring.hpp>

#include <gtest/gtest.h>

#include <new>

#include <weft/base/random.hpp>
#include <weft/service/event_heap.hpp>

namespace weft {
namespace {

/// A cell with a number for its header, never 0.
void push(event_ring& ring, std::uint64_t number, std::size_t bytes = 8) {
  std::byte* const cell = ring.claim(bytes);
  ASSERT_NE(cell, nullptr);
  ::new (cell) std::uint64_t{number};
  ring.commit(bytes);
}

std::uint64_t pop(event_ring& ring, std::size_t bytes = 8) {
  const std::uint64_t number = event_ring::header_at(ring.front());
  ring.pop(bytes);
  return number;
}

TEST(event_ring, gives_in_order_across_chunks_of_every_size) {
  event_chunk_pool chunks;
  event_ring ring{chunks};
  constexpr std::uint64_t count = 1'000'000;  // 8 MB
  for (std::uint64_t i = 1; i <= count; ++i) push(ring, i);
  EXPECT_GT(chunks.held_bytes(), 8 * count);
  EXPECT_LT(chunks.held_bytes(), 8 * count + 5'000'000);
  for (std::uint64_t i = 1; i <= count; ++i) ASSERT_EQ(pop(ring), i);
  EXPECT_TRUE(ring.empty());
  EXPECT_LE(chunks.held_bytes(), 5'000'000U) << "drained chunks go back";
}

TEST(event_ring, begins_anew_in_the_same_place_when_it_runs_empty) {
  event_chunk_pool chunks;
  event_ring ring{chunks};
  push(ring, 1);
  const std::byte* const place = ring.front();
  std::ignore = pop(ring);
  for (std::uint64_t i = 1; i < 100'000; ++i) {
    push(ring, i);
    ASSERT_EQ(ring.front(), place);
    ASSERT_EQ(pop(ring), i);
  }
  EXPECT_EQ(chunks.held_bytes_max(), event_chunk_pool::chunk_bytes[0]);
}

TEST(event_ring, what_is_read_stays_while_others_are_written) {
  event_chunk_pool chunks;
  event_ring ring{chunks};
  push(ring, 7);
  const std::byte* const front = ring.front();
  for (std::uint64_t i = 1; i < 10'000; ++i) push(ring, i);
  EXPECT_EQ(event_ring::header_at(front), 7U);
  EXPECT_EQ(pop(ring), 7U);
  for (std::uint64_t i = 1; i < 10'000; ++i) ASSERT_EQ(pop(ring), i);
}

TEST(event_ring, cells_of_any_size_come_back_in_order) {
  random dice{11};
  event_chunk_pool chunks;
  event_ring ring{chunks};
  std::uint64_t pushed = 0;
  std::uint64_t popped = 0;
  const auto bytes_of = [](std::uint64_t number) { return 8 + number * 2'654'435'761U % 256 * 8; };
  for (int round = 0; round < 200'000; ++round) {
    const bool grows = round / 5000 % 2 == 0;
    if (dice.chance(grows ? 3 : 1, 4)) {
      ++pushed;
      push(ring, pushed, bytes_of(pushed));
    } else if (popped < pushed) {
      ++popped;
      ASSERT_EQ(pop(ring, bytes_of(popped)), popped);
    }
    ASSERT_EQ(ring.empty(), pushed == popped);
  }
}

TEST(event_ring, a_ring_that_ends_full_gives_its_chunks_back) {
  event_chunk_pool chunks;
  {
    event_ring ring{chunks};
    for (std::uint64_t i = 1; i <= 500'000; ++i) push(ring, i);
  }
  const auto& sizes = event_chunk_pool::chunk_bytes;
  EXPECT_EQ(chunks.held_bytes(), sizes[0] + sizes[1] + sizes[2]) << "one spare of each size";
}

TEST(event_heap, gives_the_earliest_first_and_equals_in_order) {
  random dice{5};
  event_heap heap;
  const time_point start{};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    std::byte* const cell = heap.claim(16);
    ASSERT_NE(cell, nullptr);
    heap.commit(start + std::chrono::seconds{dice.below(20)}, cell, 16);
  }
  time_point latest = start;
  std::uint64_t number = 0;
  for (int i = 0; i < 1000; ++i) {
    const event_heap::item next = heap.take();
    ASSERT_TRUE(next.due > latest || (next.due == latest && (i == 0 || next.number > number)));
    latest = next.due;
    number = next.number;
    event_heap::free(next);
  }
  EXPECT_TRUE(heap.empty());
}

}  // namespace
}  // namespace weft
