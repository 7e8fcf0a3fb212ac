#include <weft/coro/channel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include <weft/coro/party_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft {
namespace {

using std::chrono::seconds;

class channel_test : public party_fixture {
 protected:
  using item = std::unique_ptr<int>;

  static item make(int number) { return std::make_unique<int>(number); }
  /// What is not sent stays in `from`.
  static task<result<void>> send(channel<item>& to, item& from) {
    co_return co_await to.send(std::move(from));
  }
  static task<result<item>> receive(channel<item>& from) { co_return co_await from.receive(); }

  item one_ = make(1);
  item two_ = make(2);
  item three_ = make(3);
  channel<item> channel_{1};
};

TEST_F(channel_test, keeps_order_and_makes_the_sender_wait_while_it_is_full) {
  channel<int> numbers{3};
  std::vector<int> received;
  std::size_t most = 0;
  const auto produce = [](channel<int>& to, std::size_t& peak) -> task<result<void>> {
    for (int i = 0; i < 100; ++i) {
      if (auto sent = co_await to.send(int{i}); !sent) co_return sent;
      peak = std::max(peak, to.size());
    }
    to.close();
    co_return result<void>{};
  };
  const auto consume = [](channel<int>& from, std::vector<int>& into) -> task<result<void>> {
    while (auto number = co_await from.receive()) into.push_back(*number);
    co_return result<void>{};
  };
  party producer{ready_, produce(numbers, most)};
  party consumer{ready_, consume(numbers, received)};
  ready_.run();
  EXPECT_EQ(producer.how(), "done");
  EXPECT_EQ(consumer.how(), "done");
  ASSERT_EQ(received.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(received[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(most, 3U);
}

TEST_F(channel_test, an_item_goes_to_the_receiver_who_came_first) {
  party first{ready_, receive(channel_)};
  party second{ready_, receive(channel_)};
  ready_.run();
  EXPECT_TRUE(channel_.try_send(make(1)));
  EXPECT_EQ(channel_.size(), 0U) << "it is with the receiver";
  EXPECT_EQ(first.how(), "waits") << "nobody is resumed from inside a send";
  EXPECT_TRUE(channel_.try_send(make(2)));
  ready_.run();
  EXPECT_EQ(*first.value(), 1);
  EXPECT_EQ(*second.value(), 2);
}

TEST_F(channel_test, who_sends_first_is_received_first) {
  party first{ready_, send(channel_, one_)};
  party second{ready_, send(channel_, two_)};
  party third{ready_, send(channel_, three_)};
  ready_.run();
  EXPECT_EQ(first.how(), "done");
  EXPECT_EQ(second.how(), "waits");
  EXPECT_EQ(**channel_.try_receive(), 1);
  EXPECT_EQ(**channel_.try_receive(), 2);
  ready_.run();
  EXPECT_EQ(second.how(), "done");
  EXPECT_EQ(third.how(), "done");
  EXPECT_EQ(**channel_.try_receive(), 3);
  EXPECT_FALSE(channel_.try_receive());
}

TEST_F(channel_test, who_tries_leaves_the_item_alone_when_there_is_no_room) {
  EXPECT_TRUE(channel_.try_send(std::move(one_)));
  EXPECT_EQ(one_, nullptr);  // NOLINT(bugprone-use-after-move): what is looked at
  EXPECT_FALSE(channel_.try_send(std::move(two_)));
  EXPECT_NE(two_, nullptr);  // NOLINT(bugprone-use-after-move): what is looked at
}

TEST_F(channel_test, what_is_in_when_it_closes_comes_out_first) {
  EXPECT_TRUE(channel_.try_send(make(1)));
  channel_.close();
  EXPECT_TRUE(channel_.is_closed());
  EXPECT_FALSE(channel_.try_send(std::move(two_)));
  party first{ready_, receive(channel_)};
  party second{ready_, receive(channel_)};
  party sender{ready_, send(channel_, two_)};
  ready_.run();
  EXPECT_EQ(*first.value(), 1);
  EXPECT_EQ(second.how(), "closed");
  EXPECT_EQ(sender.how(), "closed");
  EXPECT_NE(two_, nullptr);
}

TEST_F(channel_test, closing_answers_who_waits) {
  party receiver{ready_, receive(channel_)};
  ready_.run();
  channel_.close();
  channel_.close();
  ready_.run();
  EXPECT_EQ(receiver.how(), "closed");

  channel<item> full{1};
  EXPECT_TRUE(full.try_send(make(1)));
  party sender{ready_, send(full, two_)};
  ready_.run();
  full.close();
  ready_.run();
  EXPECT_EQ(sender.how(), "closed");
  EXPECT_NE(two_, nullptr) << "what was not sent is still the sender's";
  EXPECT_EQ(**full.try_receive(), 1);
}

TEST_F(channel_test, an_item_given_to_a_receiver_is_not_lost_when_it_is_cancelled) {
  party receiver{ready_, receive(channel_), in(seconds{1})};
  ready_.run();
  EXPECT_TRUE(channel_.try_send(make(1)));
  receiver.stop();
  ready_.pass(seconds{1});
  channel_.close();
  ready_.run();
  ASSERT_EQ(receiver.how(), "done");
  EXPECT_EQ(*receiver.value(), 1);
}

TEST_F(channel_test, a_receiver_cancelled_before_the_item_leaves_it_to_the_next) {
  party first{ready_, receive(channel_)};
  party second{ready_, receive(channel_)};
  ready_.run();
  first.stop();
  EXPECT_TRUE(channel_.try_send(make(1)));  // in the same turn
  ready_.run();
  EXPECT_EQ(first.how(), "cancelled");
  EXPECT_EQ(*second.value(), 1);
}

TEST_F(channel_test, a_sender_cancelled_before_there_is_room_keeps_its_item) {
  EXPECT_TRUE(channel_.try_send(make(1)));
  party first{ready_, send(channel_, two_)};
  party second{ready_, send(channel_, three_)};
  ready_.run();
  first.stop();
  EXPECT_EQ(**channel_.try_receive(), 1);  // in the same turn
  ready_.run();
  EXPECT_EQ(first.how(), "cancelled");
  EXPECT_NE(two_, nullptr);
  EXPECT_EQ(second.how(), "done");
  EXPECT_EQ(**channel_.try_receive(), 3);
}

TEST_F(channel_test, a_sender_that_was_taken_from_has_sent_though_it_is_cancelled) {
  EXPECT_TRUE(channel_.try_send(make(1)));
  party sender{ready_, send(channel_, two_)};
  ready_.run();
  EXPECT_EQ(**channel_.try_receive(), 1);
  sender.stop();
  channel_.close();
  ready_.run();
  EXPECT_EQ(sender.how(), "done");
  EXPECT_EQ(two_, nullptr);
  EXPECT_EQ(**channel_.try_receive(), 2);
}

TEST_F(channel_test, deadlines_end_both_waits) {
  party receiver{ready_, receive(channel_), in(seconds{1})};
  ready_.run();
  pass(seconds{1});
  EXPECT_EQ(receiver.how(), "timed_out");
  EXPECT_TRUE(channel_.try_send(make(1)));
  party sender{ready_, send(channel_, two_), in(seconds{1})};
  ready_.run();
  pass(seconds{1});
  EXPECT_EQ(sender.how(), "timed_out");
  EXPECT_NE(two_, nullptr);
}

TEST_F(channel_test, a_stopped_task_neither_sends_nor_receives) {
  EXPECT_TRUE(channel_.try_send(make(1)));
  party receiver{ready_, receive(channel_)};
  receiver.stop();
  ready_.run();
  EXPECT_EQ(receiver.how(), "cancelled");
  EXPECT_EQ(**channel_.try_receive(), 1);
  party sender{ready_, send(channel_, two_)};
  sender.stop();
  ready_.run();
  EXPECT_EQ(sender.how(), "cancelled");
  EXPECT_NE(two_, nullptr);
}

TEST_F(channel_test, what_is_left_in_it_ends_with_it) {
  auto alive = std::make_shared<int>(1);
  {
    channel<std::shared_ptr<int>> shared{4};
    EXPECT_TRUE(shared.try_send(std::shared_ptr{alive}));
    EXPECT_TRUE(shared.try_send(std::shared_ptr{alive}));
    EXPECT_TRUE(shared.try_receive());
    EXPECT_EQ(alive.use_count(), 2) << "a slot that was emptied holds nothing";
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST_F(channel_test, many_senders_and_receivers_lose_and_double_nothing) {
  constexpr int senders = 7;
  constexpr int each = 50;
  channel<int> numbers{3};
  std::vector<int> seen(senders * each);
  const auto produce = [](channel<int>& to, int from) -> task<result<void>> {
    for (int i = 0; i < each; ++i) std::ignore = co_await to.send(from * each + i);
    co_return result<void>{};
  };
  const auto consume = [](channel<int>& from, std::vector<int>& into) -> task<result<void>> {
    while (auto number = co_await from.receive()) ++into[static_cast<std::size_t>(*number)];
    co_return result<void>{};
  };
  using member = party<void>;
  std::vector<std::unique_ptr<member>> members;
  for (int i = 0; i < senders; ++i) {
    members.push_back(std::make_unique<member>(ready_, produce(numbers, i)));
    if (i % 2 == 0) members.push_back(std::make_unique<member>(ready_, consume(numbers, seen)));
  }
  ready_.run();
  numbers.close();
  ready_.run();
  for (const auto& one : members) EXPECT_EQ(one->how(), "done");
  EXPECT_EQ(seen, std::vector(senders * each, 1));
}

TEST_F(channel_test, allocates_nothing_after_its_construction) {
  channel<int> numbers{2};
  const auto work = [](channel<int>& own, bool sends) -> task<result<void>> {
    for (int i = 0; i < 100; ++i) {
      if (sends)
        std::ignore = co_await own.send(int{i});
      else
        std::ignore = co_await own.receive();
    }
    co_return result<void>{};
  };
  party sender{ready_, work(numbers, true), in(seconds{1})};
  party receiver{ready_, work(numbers, false), in(seconds{1})};
  const testing::allocation_counter since;
  ready_.run();
  EXPECT_EQ(since.allocations(), 0U);
  EXPECT_EQ(receiver.how(), "done");
}

TEST_F(channel_test, an_item_needs_no_default_constructor_nor_assignment) {
  struct fixed {
    explicit fixed(int n) noexcept : number{n} {}
    const int number;
  };
  channel<fixed> fixed_ones{1};
  EXPECT_TRUE(fixed_ones.try_send(fixed{5}));
  const auto take = [](channel<fixed>& from) -> task<result<int>> {
    auto got = co_await from.receive();
    co_return got->number;
  };
  party receiver{ready_, take(fixed_ones)};
  ready_.run();
  EXPECT_EQ(receiver.value(), 5);
}

using channel_death_test = channel_test;

TEST_F(channel_death_test, a_channel_needs_room) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(channel<int>{0}, "room for one item");
}

}  // namespace
}  // namespace weft
