#include <weft/loop/mailbox.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

namespace weft {
namespace {

constexpr unsigned no_limit = 1'000'000;

TEST(mailbox, runs_letters_in_the_order_of_posting) {
  mailbox box;
  std::vector<int> order;
  for (int i = 1; i <= 3; ++i) EXPECT_FALSE(box.post([&order, i] { order.push_back(i); }));
  EXPECT_TRUE(order.empty());
  box.drain(no_limit);
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  box.drain(no_limit);
  EXPECT_EQ(order.size(), 3U);
}

TEST(mailbox, the_limit_leaves_the_rest_for_later) {
  mailbox box;
  int ran = 0;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(box.post([&ran] { ++ran; }));
  box.drain(2);
  EXPECT_EQ(ran, 2);
  EXPECT_FALSE(box.prepare_to_sleep()) << "letters are left";
  box.drain(2);
  EXPECT_EQ(ran, 4);
  box.drain(2);
  EXPECT_EQ(ran, 5);
  EXPECT_TRUE(box.prepare_to_sleep());
}

TEST(mailbox, letters_posted_by_letters_wait_for_the_next_drain) {
  mailbox box;
  std::vector<int> order;
  EXPECT_FALSE(box.post([&] {
    order.push_back(1);
    EXPECT_FALSE(box.post([&] { order.push_back(3); }));
  }));
  EXPECT_FALSE(box.post([&] { order.push_back(2); }));
  box.drain(no_limit);
  EXPECT_EQ(order, (std::vector{1, 2}));
  EXPECT_FALSE(box.prepare_to_sleep());
  box.drain(no_limit);
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(mailbox, only_a_sleeper_is_woken_and_only_once) {
  mailbox box;
  EXPECT_FALSE(box.post([] {})) << "nobody sleeps";
  EXPECT_FALSE(box.prepare_to_sleep()) << "a letter has come";
  EXPECT_FALSE(box.post([] {})) << "it did not go to sleep";
  box.drain(no_limit);
  EXPECT_TRUE(box.prepare_to_sleep());
  EXPECT_TRUE(box.post([] {}));
  EXPECT_FALSE(box.post([] {})) << "it has been woken";
  box.woke_up();
  box.drain(no_limit);
  EXPECT_TRUE(box.prepare_to_sleep());
  box.woke_up();
  EXPECT_FALSE(box.post([] {})) << "it woke up by itself";
}

TEST(mailbox, a_loop_that_polls_sees_letters_without_announcing_sleep) {
  mailbox box;
  EXPECT_FALSE(box.has_letters());
  EXPECT_FALSE(box.drain(no_limit)) << "nothing ran";
  EXPECT_FALSE(box.post([] {})) << "a poller is not woken";
  EXPECT_FALSE(box.post([] {}));
  EXPECT_TRUE(box.has_letters());
  EXPECT_TRUE(box.drain(1));
  EXPECT_TRUE(box.has_letters()) << "one is left";
  EXPECT_TRUE(box.drain(1));
  EXPECT_FALSE(box.has_letters());
}

TEST(mailbox, a_letter_is_destroyed_when_it_has_run) {
  mailbox box;
  const auto cargo = std::make_shared<int>(1);
  EXPECT_FALSE(box.post([cargo] {}));
  EXPECT_EQ(cargo.use_count(), 2);
  box.drain(no_limit);
  EXPECT_EQ(cargo.use_count(), 1);
}

TEST(mailbox, letters_may_own_what_cannot_be_copied_and_are_destroyed_unread) {
  const auto cargo = std::make_shared<int>(1);
  {
    mailbox box;
    EXPECT_FALSE(box.post([held = std::make_unique<std::shared_ptr<int>>(cargo)] {}));
    EXPECT_EQ(cargo.use_count(), 2);
  }
  EXPECT_EQ(cargo.use_count(), 1);
}

/// Threads post while the reader goes to sleep whenever it may: a wake-up lost would leave it
/// there.
TEST(mailbox, no_letter_and_no_wake_up_is_lost_between_threads) {
  constexpr int writers = 3;
  constexpr int letters = 5'000;
  mailbox box;
  std::counting_semaphore<> wake_up{0};
  std::array<int, writers> next{};  // written by letters, so by the reader only
  int received = 0;

  std::vector<std::thread> threads;
  for (std::size_t writer = 0; writer < writers; ++writer)
    threads.emplace_back([&, writer] {
      for (int i = 0; i < letters; ++i) {
        const bool wake = box.post([&next, &received, writer, i] {
          EXPECT_EQ(next[writer], i);
          next[writer] = i + 1;
          ++received;
        });
        if (wake) wake_up.release();
        if (i % 64 == 0) std::this_thread::yield();
      }
    });

  while (received < writers * letters) {
    box.drain(256);
    if (received == writers * letters || !box.prepare_to_sleep()) continue;
    if (!wake_up.try_acquire_for(std::chrono::seconds{60})) {
      ADD_FAILURE() << "asleep with " << writers * letters - received << " letters to come";
      break;
    }
    box.woke_up();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(received, writers * letters);
}

}  // namespace
}  // namespace weft
