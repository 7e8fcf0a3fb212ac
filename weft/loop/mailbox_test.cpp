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
constexpr std::size_t room_for_all = 1'000'000;

using receipt = mailbox::receipt;

struct box_and_bell {
  doorbell bell;
  mailbox box{bell, room_for_all};
  [[nodiscard]] bool prepare_to_sleep() { return !box.has_leftovers() && bell.prepare_to_sleep(); }
};

TEST(mailbox, runs_letters_in_the_order_of_posting) {
  box_and_bell made;
  mailbox& box = made.box;
  std::vector<int> order;
  for (int i = 1; i <= 3; ++i)
    EXPECT_EQ(box.post([&order, i] { order.push_back(i); }), receipt::posted);
  EXPECT_TRUE(order.empty());
  box.drain(no_limit);
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  box.drain(no_limit);
  EXPECT_EQ(order.size(), 3U);
}

TEST(mailbox, the_limit_leaves_the_rest_for_later) {
  box_and_bell made;
  mailbox& box = made.box;
  int ran = 0;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(box.post([&ran] { ++ran; }), receipt::posted);
  box.drain(2);
  EXPECT_EQ(ran, 2);
  EXPECT_FALSE(made.prepare_to_sleep()) << "letters are left";
  box.drain(2);
  EXPECT_EQ(ran, 4);
  box.drain(2);
  EXPECT_EQ(ran, 5);
  EXPECT_TRUE(made.prepare_to_sleep());
}

TEST(mailbox, letters_posted_by_letters_wait_for_the_next_drain) {
  box_and_bell made;
  mailbox& box = made.box;
  std::vector<int> order;
  EXPECT_EQ(box.post([&] {
    order.push_back(1);
    EXPECT_EQ(box.post([&] { order.push_back(3); }), receipt::posted);
  }),
            receipt::posted);
  EXPECT_EQ(box.post([&] { order.push_back(2); }), receipt::posted);
  box.drain(no_limit);
  EXPECT_EQ(order, (std::vector{1, 2}));
  EXPECT_FALSE(made.prepare_to_sleep());
  box.drain(no_limit);
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(mailbox, only_a_sleeper_is_woken_and_only_once) {
  box_and_bell made;
  mailbox& box = made.box;
  EXPECT_EQ(box.post([] {}), receipt::posted) << "nobody sleeps";
  EXPECT_FALSE(made.prepare_to_sleep()) << "a letter has come";
  EXPECT_EQ(box.post([] {}), receipt::posted) << "it did not go to sleep";
  box.drain(no_limit);
  EXPECT_TRUE(made.prepare_to_sleep());
  EXPECT_EQ(box.post([] {}), receipt::wake);
  EXPECT_EQ(box.post([] {}), receipt::posted) << "it has been woken";
  made.bell.woke_up();
  box.drain(no_limit);
  EXPECT_TRUE(made.prepare_to_sleep());
  made.bell.woke_up();
  EXPECT_EQ(box.post([] {}), receipt::posted) << "it woke up by itself";
}

TEST(mailbox, a_loop_that_polls_sees_letters_without_announcing_sleep) {
  box_and_bell made;
  mailbox& box = made.box;
  EXPECT_FALSE(box.has_letters());
  EXPECT_FALSE(box.drain(no_limit)) << "nothing ran";
  EXPECT_EQ(box.post([] {}), receipt::posted) << "a poller is not woken";
  EXPECT_EQ(box.post([] {}), receipt::posted);
  EXPECT_TRUE(box.has_letters());
  EXPECT_TRUE(box.drain(1));
  EXPECT_TRUE(box.has_letters()) << "one is left";
  EXPECT_TRUE(box.drain(1));
  EXPECT_FALSE(box.has_letters());
}

TEST(mailbox, a_letter_is_destroyed_when_it_has_run) {
  box_and_bell made;
  mailbox& box = made.box;
  const auto cargo = std::make_shared<int>(1);
  EXPECT_EQ(box.post([cargo] {}), receipt::posted);
  EXPECT_EQ(cargo.use_count(), 2);
  box.drain(no_limit);
  EXPECT_EQ(cargo.use_count(), 1);
}

TEST(mailbox, letters_may_own_what_cannot_be_copied_and_are_destroyed_unread) {
  const auto cargo = std::make_shared<int>(1);
  {
    box_and_bell made;
    mailbox& box = made.box;
    EXPECT_EQ(box.post([held = std::make_unique<std::shared_ptr<int>>(cargo)] {}), receipt::posted);
    EXPECT_EQ(cargo.use_count(), 2);
  }
  EXPECT_EQ(cargo.use_count(), 1);
}

TEST(mailbox, refuses_what_it_has_no_room_for) {
  doorbell bell;
  mailbox box{bell, 2};
  int ran = 0;
  const auto work = [&ran] { ++ran; };
  EXPECT_EQ(box.post(work), receipt::posted);
  EXPECT_EQ(box.post(work), receipt::posted);
  EXPECT_EQ(box.post(work), receipt::full);
  EXPECT_EQ(box.drain(1), 1U);
  EXPECT_EQ(box.post(work), receipt::posted) << "what is being run makes room";
  EXPECT_EQ(box.drain(no_limit), 1U);
  EXPECT_EQ(box.drain(no_limit), 1U);
  EXPECT_EQ(ran, 3);
}

struct counting : runnable {
  counting() : runnable{&on_run} {}
  static void on_run(runnable& self) noexcept { ++static_cast<counting&>(self).runs; }
  int runs = 0;
};

TEST(mailbox, always_has_room_for_what_is_its_owners_memory) {
  doorbell bell;
  mailbox box{bell, 1};
  std::array<counting, 3> items;
  EXPECT_EQ(box.post([] {}), receipt::posted);
  for (counting& item : items) EXPECT_EQ(box.post(item), receipt::posted);
  EXPECT_EQ(box.drain(2), 2U);
  EXPECT_TRUE(box.has_leftovers());
  EXPECT_EQ(box.drain(no_limit), 2U);
  for (const counting& item : items) EXPECT_EQ(item.runs, 1);
  EXPECT_TRUE(bell.prepare_to_sleep());
  EXPECT_EQ(box.post(items[0]), receipt::wake);
  EXPECT_EQ(box.drain(no_limit), 1U);
}

/// Threads post while the reader goes to sleep whenever it may: a wake-up lost would leave it
/// there.
TEST(mailbox, no_letter_and_no_wake_up_is_lost_between_threads) {
  constexpr int writers = 3;
  constexpr int letters = 5'000;
  box_and_bell made;
  mailbox& box = made.box;
  std::counting_semaphore<> wake_up{0};
  std::array<int, writers> next{};  // written by letters, so by the reader only
  int received = 0;

  std::vector<std::thread> threads;
  for (std::size_t writer = 0; writer < writers; ++writer)
    threads.emplace_back([&, writer] {
      for (int i = 0; i < letters; ++i) {
        const receipt given = box.post([&next, &received, writer, i] {
          EXPECT_EQ(next[writer], i);
          next[writer] = i + 1;
          ++received;
        });
        if (given == receipt::wake) wake_up.release();
        if (i % 64 == 0) std::this_thread::yield();
      }
    });

  while (received < writers * letters) {
    box.drain(256);
    if (received == writers * letters || !made.prepare_to_sleep()) continue;
    if (!wake_up.try_acquire_for(std::chrono::seconds{60})) {
      ADD_FAILURE() << "asleep with " << writers * letters - received << " letters to come";
      break;
    }
    made.bell.woke_up();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(received, writers * letters);
}

}  // namespace
}  // namespace weft
