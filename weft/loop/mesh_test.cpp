#include <weft/loop/mesh.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include <weft/base/sanitizers.hpp>
#include <weft/loop/message_ring.hpp>

namespace weft {
namespace {

struct numbered : message {
  explicit numbered(unsigned n = 0) noexcept : message{&on_arrival_here}, number{n} {}
  static void on_arrival_here(message&, mesh_port*) noexcept {}
  unsigned number;
};

unsigned number_of(message* item) { return static_cast<numbered*>(item)->number; }

// The ring.

TEST(message_ring, gives_in_order_what_it_was_given_and_refuses_more_than_it_holds) {
  message_ring ring{4};
  std::array<numbered, 5> items{numbered{0}, numbered{1}, numbered{2}, numbered{3}, numbered{4}};
  EXPECT_EQ(ring.pop(), nullptr);
  for (unsigned i = 0; i < 4; ++i) EXPECT_TRUE(ring.push(&items[i]));
  EXPECT_FALSE(ring.push(&items[4]));
  EXPECT_EQ(number_of(ring.pop()), 0U);
  EXPECT_FALSE(ring.push(&items[4])) << "what has been popped takes room until it is released";
  EXPECT_TRUE(ring.release()) << "the producer has left word";
  EXPECT_FALSE(ring.release()) << "once";
  EXPECT_TRUE(ring.push(&items[4]));
  for (unsigned i = 1; i < 5; ++i) EXPECT_EQ(number_of(ring.pop()), i);
  EXPECT_EQ(ring.pop(), nullptr);
  EXPECT_FALSE(ring.release()) << "nobody waits";
}

TEST(message_ring, goes_round_for_ever) {
  message_ring ring{8};
  numbered item;
  for (unsigned i = 0; i < 100'000; ++i) {
    ASSERT_TRUE(ring.push(&item));
    ASSERT_EQ(ring.pop(), &item);
    ASSERT_FALSE(ring.release());
  }
}

class message_ring_threads : public ::testing::TestWithParam<unsigned> {};
// A ring of one is emptied by each release, so that nothing later makes up for a word that was
// lost.
INSTANTIATE_TEST_SUITE_P(capacities, message_ring_threads, ::testing::Values(1, 8));

/// Producer and consumer sleep whenever they may: a word lost would leave one of them there.
TEST_P(message_ring_threads, lose_nothing_though_both_sleep) {
  constexpr unsigned count = WEFT_SANITIZED ? 20'000 : 200'000;
  message_ring ring{GetParam()};
  doorbell consumer;
  doorbell producer;
  std::counting_semaphore<> wake_consumer{0};
  std::counting_semaphore<> wake_producer{0};
  std::vector<numbered> items(count);
  for (unsigned i = 0; i < count; ++i) items[i].number = i;

  const auto sleep = [](doorbell& bell, std::counting_semaphore<>& wake_up) {
    const bool awake =
        !bell.prepare_to_sleep() || wake_up.try_acquire_for(std::chrono::seconds{20});
    EXPECT_TRUE(awake) << "asleep for ever";
    bell.woke_up();
    static_cast<void>(bell.take(doorbell::peers));
    return awake;
  };
  std::thread other{[&] {
    for (unsigned next = 0; next < count;) {
      if (!ring.push(&items[next])) {
        if (!sleep(producer, wake_producer)) return;
        continue;
      }
      ++next;
      if (consumer.ring(1)) wake_consumer.release();
    }
  }};
  for (unsigned next = 0; next < count;) {
    message* item = nullptr;
    for (unsigned got = 0; got < 5 && (item = ring.pop()) != nullptr; ++got) {
      ASSERT_EQ(number_of(item), next);
      ++next;
    }
    if (ring.release() && producer.ring(1)) wake_producer.release();
    if (item == nullptr && next < count && !sleep(consumer, wake_consumer)) break;
  }
  other.join();
}

}  // namespace
}  // namespace weft
