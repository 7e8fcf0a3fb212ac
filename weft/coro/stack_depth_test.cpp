#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <weft/coro/async_generator.hpp>
#include <weft/coro/channel.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/mutex.hpp>
#include <weft/coro/stack_span_test.hpp>
#include <weft/coro/task_fixture_test.hpp>

namespace weft {
namespace {

// Awaiting in a loop takes no stack, however awaits are answered and however the compiler was told
// to compile. A few hundred thousand awaits end any stack that each leaves something on; the count
// that is promised is ten million, as WEFT_AWAITS=10000000 has it.

int awaits() {
  const char* const wanted = std::getenv("WEFT_AWAITS");
  return wanted == nullptr ? 300'000 : std::stoi(wanted);
}

class stack_depth_test : public task_fixture {
 protected:
  ~stack_depth_test() override {
    EXPECT_GT(stack_.notes(), static_cast<std::size_t>(count_ / 100)) << "what was looked at";
    EXPECT_LT(stack_.bytes(), stack_span::some_frames_bytes);
  }

  stack_span stack_;
  const int count_ = awaits();
};

TEST_F(stack_depth_test, a_task_that_ends_at_once) {
  const auto add = [](stack_span& stack, int to) -> task<int> {
    stack.note();
    co_return to + 1;
  };
  const auto sum = [&add](stack_span& stack, int count) -> task<int> {
    stack.note();
    int total = 0;
    while (total < count) {
      total = co_await add(stack, total);
      stack.note();
    }
    co_return total;
  };
  EXPECT_EQ(run(sum(stack_, count_)), count_);
}

TEST_F(stack_depth_test, a_task_that_throws) {
  const auto fail_at = [](stack_span& stack, int number) -> task<void> {
    stack.note();
    throw number;
    co_return;
  };
  // An exception costs as much as some hundred awaits, so that a hundredth of them must do.
  const auto catch_all = [&fail_at](stack_span& stack, int count) -> task<int> {
    int caught = 0;
    while (caught < count) {
      try {
        co_await fail_at(stack, caught);
      } catch (int number) {
        caught = number + 1;
      }
      stack.note();
    }
    co_return caught;
  };
  EXPECT_EQ(run(catch_all(stack_, count_ / 100)), count_ / 100);
}

TEST_F(stack_depth_test, a_wait_that_is_answered_at_once) {
  event set;
  set.set();
  mutex free;
  const auto wait = [](stack_span& stack, event& first, mutex& second, int count) -> task<int> {
    stack.note();
    int done = 0;
    while (done < count) {
      std::ignore = co_await first.wait();
      const auto held = co_await second.lock();
      done += 2;
      stack.note();
    }
    co_return done;
  };
  EXPECT_GE(run(wait(stack_, set, free, count_)), count_);
}

TEST_F(stack_depth_test, items_of_an_async_generator) {
  const auto numbers = [](stack_span& stack, int count) -> async_generator<int> {
    for (int i = 0; i < count; ++i) {
      stack.note();
      co_yield i;
    }
  };
  const auto consume = [](stack_span& stack, async_generator<int> items) -> task<int> {
    int seen = 0;
    while (co_await items.next() != nullptr) {
      stack.note();
      ++seen;
    }
    co_return seen;
  };
  EXPECT_EQ(run(consume(stack_, numbers(stack_, count_))), count_);
}

TEST_F(stack_depth_test, tasks_that_wait_for_each_other) {
  channel<int> numbers{1};
  tasks_.spawn([](stack_span& stack, channel<int>& to, int count) -> task<void> {
    for (int i = 0; i < count; ++i) {
      stack.note();
      std::ignore = co_await to.send(int{i});
    }
    to.close();
  }(stack_, numbers, count_));
  const auto consume = [](stack_span& stack, channel<int>& from) -> task<int> {
    int seen = 0;
    while (co_await from.receive()) {
      stack.note();
      ++seen;
    }
    co_return seen;
  };
  EXPECT_EQ(run(consume(stack_, numbers)), count_);
}

}  // namespace
}  // namespace weft
