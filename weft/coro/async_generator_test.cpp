#include <weft/coro/async_generator.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/coro/channel.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/party_test.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft {
namespace {

using std::chrono::seconds;

class async_generator_test : public party_fixture {
 protected:
  static async_generator<int> up_to(int limit) {
    for (int i = 0; i < limit; ++i) co_yield i;
  }
  /// Numbers as they come, and at last -1 if the channel did not close but the wait was ended.
  static async_generator<int> numbers_of(channel<int>& from) {
    result<int> number = co_await from.receive();
    while (number) {
      co_yield *number;
      number = co_await from.receive();
    }
    if (number.error() != errc::closed) co_yield -1;
  }
  static task<result<std::vector<int>>> collect(async_generator<int> numbers) {
    std::vector<int> all;
    while (const int* number = co_await numbers.next()) all.push_back(*number);
    co_return all;
  }

  channel<int> channel_{4};
};

TEST_F(async_generator_test, gives_the_items_and_then_nothing_ever_after) {
  const auto consume = []() -> task<result<int>> {
    auto numbers = up_to(3);
    int sum = 0;
    while (const int* number = co_await numbers.next()) sum += *number;
    EXPECT_EQ(co_await numbers.next(), nullptr);
    co_return sum;
  };
  party consumer{ready_, consume()};
  ready_.run();
  EXPECT_EQ(consumer.value(), 3);
}

TEST_F(async_generator_test, waits_between_items) {
  party consumer{ready_, collect(numbers_of(channel_))};
  ready_.run();
  EXPECT_TRUE(channel_.try_send(1));
  ready_.run();
  EXPECT_TRUE(channel_.try_send(2));
  EXPECT_TRUE(channel_.try_send(3));
  channel_.close();
  EXPECT_EQ(consumer.how(), "waits");
  ready_.run();
  EXPECT_EQ(consumer.value(), (std::vector{1, 2, 3}));
}

TEST_F(async_generator_test, the_consumers_stop_and_deadline_end_the_waits_inside) {
  party stopped{ready_, collect(numbers_of(channel_))};
  party late{ready_, collect(numbers_of(channel_)), in(seconds{1})};
  ready_.run();
  stopped.stop();
  pass(seconds{1});
  EXPECT_EQ(stopped.value(), std::vector{-1});
  EXPECT_EQ(late.value(), std::vector{-1});
}

TEST_F(async_generator_test, inherits_the_environment_of_each_call) {
  const auto deadlines = []() -> async_generator<const deadline> {
    while (true) co_yield (co_await this_task::environment()).until;
  };
  const auto consume = [](auto& own, deadline until) -> task<result<void>> {
    EXPECT_TRUE((co_await own.next())->is_never());
    const auto next = [](auto& inner) -> task<deadline> { co_return *co_await inner.next(); };
    EXPECT_EQ(co_await with_deadline(until, next(own)), until);
    EXPECT_TRUE((co_await own.next())->is_never());
    co_return result<void>{};
  };
  auto sequence = deadlines();
  party consumer{ready_, consume(sequence, in(seconds{1}))};
  ready_.run();
  EXPECT_EQ(consumer.how(), "done");
}

TEST_F(async_generator_test, items_can_be_taken_and_are_not_copied) {
  const auto boxes = [](std::unique_ptr<int>& last) -> async_generator<std::unique_ptr<int>> {
    co_yield std::make_unique<int>(1);
    co_yield last;
  };
  const auto consume = [](auto sequence) -> task<result<int>> {
    int sum = 0;
    while (auto* box = co_await sequence.next()) {
      const auto taken = std::move(*box);
      sum = sum * 10 + *taken;
    }
    co_return sum;
  };
  auto last = std::make_unique<int>(2);
  party consumer{ready_, consume(boxes(last))};
  ready_.run();
  EXPECT_EQ(consumer.value(), 12);
  EXPECT_EQ(last, nullptr);
}

TEST_F(async_generator_test, an_exception_reaches_who_asks_once) {
  const auto failing = []() -> async_generator<int> {
    co_yield 1;
    throw std::runtime_error{"inner"};
  };
  const auto consume = [](auto numbers) -> task<result<std::string>> {
    std::ignore = co_await numbers.next();
    std::string text = "nothing";
    try {
      std::ignore = co_await numbers.next();
    } catch (const std::runtime_error& thrown) {
      text = thrown.what();
    }
    EXPECT_EQ(co_await numbers.next(), nullptr);
    co_return text;
  };
  party consumer{ready_, consume(failing())};
  ready_.run();
  EXPECT_EQ(consumer.value(), "inner");
}

TEST_F(async_generator_test, one_consumes_another) {
  const auto doubled = [](async_generator<int> inner) -> async_generator<int> {
    while (const int* number = co_await inner.next()) co_yield 2 * *number;
  };
  party consumer{ready_, collect(doubled(doubled(numbers_of(channel_))))};
  ready_.run();
  EXPECT_TRUE(channel_.try_send(1));
  EXPECT_TRUE(channel_.try_send(2));
  channel_.close();
  ready_.run();
  EXPECT_EQ(consumer.value(), (std::vector{4, 8}));
}

TEST_F(async_generator_test, may_end_at_any_item_and_before_the_first) {
  const auto alive = std::make_shared<int>(1);
  const auto holding = [](std::shared_ptr<int> held) -> async_generator<int> {
    const auto local = held;
    while (true) co_yield *local;
  };
  const auto consume = [](async_generator<int> numbers) -> task<result<int>> {
    co_return *co_await numbers.next();
  };
  {
    auto unused = holding(alive);
    party consumer{ready_, consume(holding(alive))};
    ready_.run();
    EXPECT_EQ(consumer.value(), 1);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST_F(async_generator_test, items_cost_no_allocation) {
  party consumer{ready_, [](async_generator<int> numbers) -> task<result<int>> {
                   int sum = 0;
                   while (const int* number = co_await numbers.next()) sum += *number;
                   co_return sum;
                 }(up_to(100))};
  const testing::allocation_counter since;
  ready_.run();
  EXPECT_EQ(since.allocations(), 0U);
  EXPECT_EQ(consumer.value(), 4950);
}

using async_generator_death_test = async_generator_test;

TEST_F(async_generator_death_test, one_that_waits_is_not_destroyed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto destroy = [this] {
    std::optional<async_generator<int>> numbers{numbers_of(channel_)};
    scope consumers{environment{.runs_on = &ready_}};
    consumers.spawn([](async_generator<int>& from) -> task<void> {
      std::ignore = co_await from.next();
    }(*numbers));
    ready_.run();
    numbers.reset();
  };
  EXPECT_DEATH(destroy(), "between two calls");
}

}  // namespace
}  // namespace weft
