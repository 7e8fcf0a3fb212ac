#include <weft/coro/when_all.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include <weft/base/poison.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/party_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft {
namespace {

class when_all_test : public party_fixture {
 protected:
  template <class T>
  static task<T> after(event& awaited, T value) {
    std::ignore = co_await awaited.wait();
    co_return value;
  }
  static task<result<void>> wait_for(event& awaited) { co_return co_await awaited.wait(); }
  static task<void> only_wait(event& awaited) { std::ignore = co_await awaited.wait(); }
  static task<int> throw_text(const char* text) {
    throw std::runtime_error{text};
    co_return 0;
  }
  /// "cancelled" if a sibling's failure reached it.
  static task<int> note_end(event& awaited, std::string& into) {
    const auto waited = co_await awaited.wait();
    into = waited ? "done" : to_string(waited.error().code());
    co_return 1;
  }
  template <class T>
  static task<result<std::string>> text_thrown_by(task<T> work) {
    try {
      std::ignore = co_await std::move(work);
    } catch (const std::runtime_error& thrown) {
      co_return thrown.what();
    }
    co_return "nothing";
  }

  event first_;
  event second_;
};

TEST_F(when_all_test, waits_for_all_and_gives_the_values_in_order) {
  const auto sum = [](event& first, event& second) -> task<result<int>> {
    auto [number, text, nothing] =
        co_await when_all(after(first, std::make_unique<int>(7)),
                          after(second, std::string{"text"}), only_wait(first));
    co_return *number + static_cast<int>(text.size());
  };
  party both{ready_, sum(first_, second_)};
  ready_.run();
  second_.set();
  ready_.run();
  EXPECT_EQ(both.how(), "waits");
  first_.set();
  ready_.run();
  EXPECT_EQ(both.value(), 11);
}

TEST_F(when_all_test, gives_a_vector_for_a_vector) {
  const auto sum = [](event& until) -> task<result<int>> {
    std::vector<task<int>> work;
    for (int i = 0; i < 5; ++i) work.push_back(after(until, i));
    int digits = 0;
    for (const int value : co_await when_all(std::move(work))) digits = digits * 10 + value;
    co_return digits;
  };
  party all{ready_, sum(first_)};
  ready_.run();
  EXPECT_EQ(all.how(), "waits");
  first_.set();
  ready_.run();
  EXPECT_EQ(all.value(), 1234);
}

TEST_F(when_all_test, of_nothing_does_not_wait) {
  const auto nothing = []() -> task<result<void>> {
    std::tuple<> none = co_await when_all();
    std::ignore = none;
    EXPECT_TRUE((co_await when_all(std::vector<task<int>>{})).empty());
    co_await when_all(std::vector<task<void>>{});
    co_return result<void>{};
  };
  party caller{ready_, nothing()};
  ready_.run();
  EXPECT_EQ(caller.how(), "done");
}

TEST_F(when_all_test, a_failure_stops_the_others_and_leaves_after_they_have_ended) {
  std::string how = "waits";
  event held;
  const auto stubborn = [](event& until) -> task<void> {
    co_await [](event& inner) -> task<void> {
      const environment unstoppable{.runs_on = (co_await this_task::environment()).runs_on};
      co_await only_wait(inner).in(unstoppable);
    }(until);
  };
  party caller{ready_, text_thrown_by(when_all(note_end(first_, how), throw_text("one"),
                                               throw_text("two"), stubborn(held)))};
  ready_.run();
  EXPECT_EQ(how, "cancelled");
  EXPECT_EQ(caller.how(), "waits") << "one has not ended yet";
  held.set();
  ready_.run();
  EXPECT_EQ(caller.value(), "one");
}

TEST_F(when_all_test, a_failure_in_a_vector_stops_the_others) {
  std::string how = "waits";
  std::vector<task<int>> work;
  work.push_back(note_end(first_, how));
  work.push_back(throw_text("one"));
  party caller{ready_, text_thrown_by(when_all(std::move(work)))};
  ready_.run();
  EXPECT_EQ(caller.value(), "one");
  EXPECT_EQ(how, "cancelled");
}

TEST_F(when_all_test,
       a_stop_request_reaches_all_and_the_caller_is_not_stopped_by_a_failure_inside) {
  const auto outer = [](event& first, event& second) -> task<result<void>> {
    const auto [one, two] = co_await when_all(wait_for(first), wait_for(second));
    EXPECT_TRUE(one);
    co_return two;
  };
  party caller{ready_, outer(first_, second_)};
  ready_.run();
  first_.set();
  caller.stop();  // in the same turn: the first has succeeded, the second has not
  ready_.run();
  EXPECT_EQ(caller.how(), "cancelled");

  const auto catches = [](event& until) -> task<result<void>> {
    EXPECT_EQ(*(co_await text_thrown_by(when_all(throw_text("inner")))), "inner");
    co_return co_await until.wait();
  };
  party unharmed{ready_, catches(first_)};
  ready_.run();
  EXPECT_EQ(unharmed.how(), "done");
}

TEST_F(when_all_test, nests) {
  const auto inner = [](event& until) -> task<int> {
    const auto [a, b] = co_await when_all(after(until, 1), after(until, 2));
    co_return a + b;
  };
  const auto outer = [](auto sum, event& until) -> task<result<int>> {
    const auto [a, b] = co_await when_all(sum(until), sum(until));
    co_return a* b;
  };
  party caller{ready_, outer(inner, first_)};
  ready_.run();
  first_.set();
  ready_.run();
  EXPECT_EQ(caller.value(), 9);
}

TEST_F(when_all_test, tasks_side_by_side_allocate_frames_only) {
  const auto pair = [](event& until) -> task<result<int>> {
    const auto [a, b] = co_await when_all(after(until, 1), after(until, 2));
    co_return a + b;
  };
  first_.set();
  const auto once = [&] {
    party warm{ready_, pair(first_)};
    ready_.run();
    EXPECT_EQ(warm.value(), 3);
  };
  once();  // fills the pool of frames
  if (WEFT_ADDRESS_SANITIZER != 0) GTEST_SKIP() << "frames are heap blocks in this build";
  const testing::allocation_counter since;
  once();
  EXPECT_EQ(since.allocations(), 0U);
}

}  // namespace
}  // namespace weft
