#include <weft/coro/race.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include <weft/coro/channel.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/party_test.hpp>
#include <weft/coro/shielded.hpp>

namespace weft {
namespace {

class race_test : public party_fixture {
 protected:
  static task<result<void>> wait_for(event& awaited) { co_return co_await awaited.wait(); }
  static task<int> give(int number) { co_return number; }
  static task<int> throw_text(const char* text) {
    throw std::runtime_error{text};
    co_return 0;
  }

  event first_;
  event second_;
};

TEST_F(race_test, the_first_to_end_wins_and_the_other_is_cancelled) {
  const auto run = [](event& first, event& second) -> task<result<std::size_t>> {
    auto ended = co_await race(wait_for(first), wait_for(second));
    EXPECT_EQ(std::get<0>(ended.values)->error(), errc::cancelled);
    EXPECT_TRUE(*std::get<1>(ended.values));
    co_return ended.winner;
  };
  party caller{ready_, run(first_, second_)};
  ready_.run();
  EXPECT_EQ(caller.how(), "waits");
  second_.set();
  ready_.run();
  EXPECT_EQ(caller.value(), 1U);
}

TEST_F(race_test, waits_for_the_loser) {
  const auto run = [](event& first, event& second) -> task<result<std::size_t>> {
    co_return (co_await race(wait_for(first), shielded(wait_for(second)))).winner;
  };
  party caller{ready_, run(first_, second_)};
  ready_.run();
  first_.set();
  ready_.run();
  EXPECT_EQ(caller.how(), "waits") << "the loser has not ended yet";
  second_.set();
  ready_.run();
  EXPECT_EQ(caller.value(), 0U);
}

TEST_F(race_test, a_loser_that_succeeded_in_the_same_turn_loses_nothing) {
  channel<int> numbers{1};
  const auto receive = [](channel<int>& from) -> task<result<int>> {
    co_return co_await from.receive();
  };
  const auto run = [](auto take, channel<int>& from, event& until) -> task<result<int>> {
    auto ended = co_await race(wait_for(until), take(from));
    EXPECT_EQ(ended.winner, 0U);
    co_return **std::get<1>(ended.values);
  };
  party caller{ready_, run(receive, numbers, first_)};
  ready_.run();
  first_.set();
  EXPECT_TRUE(numbers.try_send(7));
  ready_.run();
  EXPECT_EQ(caller.value(), 7);
}

TEST_F(race_test, of_a_vector_says_which) {
  const auto run = [](event& first, event& second) -> task<result<std::size_t>> {
    std::vector<task<result<void>>> work;
    work.push_back(wait_for(first));
    work.push_back(wait_for(second));
    work.push_back(wait_for(first));
    auto ended = co_await race(std::move(work));
    EXPECT_EQ(ended.values.size(), 3U);
    EXPECT_TRUE(*ended.values[1]);
    EXPECT_EQ(ended.values[2]->error(), errc::cancelled);
    co_return ended.winner;
  };
  party caller{ready_, run(first_, second_)};
  ready_.run();
  second_.set();
  ready_.run();
  EXPECT_EQ(caller.value(), 1U);
}

TEST_F(race_test, of_tasks_without_a_value) {
  const auto only_wait = [](event& until) -> task<void> { std::ignore = co_await until.wait(); };
  const auto run = [](auto wait, event& first, event& second) -> task<result<std::size_t>> {
    std::vector<task<void>> work;
    work.push_back(wait(first));
    work.push_back(wait(second));
    const auto many = co_await race(std::move(work));
    const auto two = co_await race(wait(first), wait(second));
    EXPECT_EQ(many.winner, two.winner);
    co_return two.winner;
  };
  party caller{ready_, run(only_wait, first_, second_)};
  ready_.run();
  second_.set();
  ready_.run();
  EXPECT_EQ(caller.value(), 1U);
}

TEST_F(race_test, an_exception_wins_too) {
  const auto run = [](event& until) -> task<result<std::string>> {
    try {
      std::ignore = co_await race(wait_for(until), throw_text("first"), throw_text("second"));
    } catch (const std::runtime_error& thrown) {
      co_return thrown.what();
    }
    co_return "nothing";
  };
  party caller{ready_, run(first_)};
  ready_.run();
  EXPECT_EQ(caller.value(), "first");
}

TEST_F(race_test, a_losers_exception_leaves_its_value_empty) {
  const auto run = []() -> task<result<int>> {
    auto ended = co_await race(give(5), throw_text("late"));
    EXPECT_FALSE(std::get<1>(ended.values));
    co_return *std::get<0>(ended.values);
  };
  party caller{ready_, run()};
  ready_.run();
  EXPECT_EQ(caller.value(), 5);
}

TEST_F(race_test, a_stop_request_reaches_all_and_the_first_to_say_so_wins) {
  const auto run = [](event& first, event& second) -> task<result<void>> {
    auto ended = co_await race(wait_for(first), wait_for(second));
    co_return *std::get<0>(ended.values);
  };
  party caller{ready_, run(first_, second_)};
  ready_.run();
  caller.stop();
  ready_.run();
  EXPECT_EQ(caller.how(), "cancelled");
}

TEST_F(race_test, the_caller_is_not_stopped_by_the_end_of_a_race) {
  const auto run = [](event& first, event& second) -> task<result<void>> {
    std::ignore = co_await race(wait_for(first), wait_for(second));
    co_return co_await second.wait();
  };
  party caller{ready_, run(first_, second_)};
  ready_.run();
  first_.set();
  ready_.run();
  EXPECT_EQ(caller.how(), "waits");
  second_.set();
  ready_.run();
  EXPECT_EQ(caller.how(), "done");
}

TEST_F(race_test, nests) {
  const auto inner = [](event& until) -> task<std::size_t> {
    co_return (co_await race(wait_for(until), give(1))).winner;
  };
  const auto run = [](auto small, event& until) -> task<result<std::size_t>> {
    auto ended = co_await race(wait_for(until), small(until));
    EXPECT_EQ(ended.winner, 1U);
    co_return *std::get<1>(ended.values);
  };
  party caller{ready_, run(inner, first_)};
  ready_.run();
  EXPECT_EQ(caller.value(), 1U);
}

using race_death_test = race_test;

TEST_F(race_death_test, somebody_must_run) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = []() -> task<result<void>> {
    std::ignore = co_await race(std::vector<task<void>>{});
    co_return result<void>{};
  };
  EXPECT_DEATH(
      {
        party caller(ready_, run());
        ready_.run();
      },
      "somebody must run");
}

}  // namespace
}  // namespace weft
