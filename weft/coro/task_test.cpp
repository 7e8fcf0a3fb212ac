#include <weft/coro/task.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/coro/stack_span_test.hpp>
#include <weft/coro/task_fixture_test.hpp>

namespace weft {
namespace {

static_assert(!std::is_copy_constructible_v<task<int>>);
static_assert(std::is_nothrow_move_constructible_v<task<int>>);
static_assert(std::is_nothrow_move_assignable_v<task<int>>);
template <class T>
concept awaitable_as = requires(T&& t) { static_cast<T&&>(t).operator co_await(); };
static_assert(awaitable_as<task<int>>);
static_assert(!awaitable_as<task<int>&>, "a named task is awaited by std::move");

using task_test = task_fixture;
using task_death_test = task_fixture;

TEST_F(task_test, gives_a_value) {
  const auto twice = [](task<int> inner) -> task<int> { co_return 2 * co_await std::move(inner); };
  EXPECT_EQ(run(twice([]() -> task<int> { co_return 21; }())), 42);
}

TEST_F(task_test, gives_a_move_only_value) {
  auto value = run([]() -> task<std::unique_ptr<int>> {
    auto made = std::make_unique<int>(7);
    co_return made;
  }());
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, 7);
}

TEST_F(task_test, converts_what_is_returned) {
  EXPECT_EQ(run([]() -> task<std::string> { co_return "text"; }()), "text");
  EXPECT_EQ(run([]() -> task<std::vector<int>> { co_return {1, 2, 3}; }()).size(), 3U);
  const auto failed = run([]() -> task<result<int>> { co_return fail(errc::closed); }());
  EXPECT_EQ(failed.error(), errc::closed);
}

TEST_F(task_test, a_value_needs_no_default_constructor_nor_assignment) {
  struct fixed {
    explicit fixed(int n) : number{n} {}
    const int number;
  };
  EXPECT_EQ(run([]() -> task<fixed> { co_return fixed{5}; }()).number, 5);
}

TEST_F(task_test, is_lazy) {
  bool ran = false;
  auto work = [](bool& flag) -> task<void> {
    flag = true;
    co_return;
  }(ran);
  EXPECT_FALSE(ran);
  run(std::move(work));
  EXPECT_TRUE(ran);
}

TEST_F(task_test, a_task_never_awaited_frees_its_frame_and_arguments) {
  auto argument = std::make_shared<int>(1);
  {
    const task<int> unused = [](std::shared_ptr<int> held) -> task<int> {
      co_return *held;
    }(argument);
    EXPECT_EQ(argument.use_count(), 2);
    EXPECT_TRUE(unused);
  }
  EXPECT_EQ(argument.use_count(), 1);
}

TEST_F(task_test, moving_hands_the_coroutine_over) {
  const auto number = [](int n) -> task<int> { co_return n; };
  task<int> first = number(1);
  task<int> second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): what is looked at
  first = number(2);
  second = std::move(first);
  EXPECT_EQ(run(std::move(second)), 2);
}

TEST_F(task_test, an_exception_reaches_whoever_awaits) {
  const auto thrower = []() -> task<int> {
    throw std::runtime_error{"inner"};
    co_return 1;
  };
  const auto catcher = [](task<int> inner) -> task<std::string> {
    try {
      std::ignore = co_await std::move(inner);
    } catch (const std::runtime_error& failure) {
      co_return failure.what();
    }
    co_return "nothing was thrown";
  };
  EXPECT_EQ(run(catcher(thrower())), "inner");
  EXPECT_THROW(std::ignore = run(thrower()), std::runtime_error);
}

TEST_F(task_test, locals_are_destroyed_when_an_exception_leaves) {
  auto local = std::make_shared<int>(1);
  const auto thrower = [](std::shared_ptr<int> held) -> task<void> {
    const auto copy = held;
    throw std::runtime_error{"gone"};
    co_return;
  };
  EXPECT_THROW(run(thrower(local)), std::runtime_error);
  EXPECT_EQ(local.use_count(), 1);
}

TEST_F(task_test, a_child_inherits_the_environment_and_in_narrows_it) {
  const auto look = []() -> task<const environment*> {
    co_return &co_await this_task::environment();
  };
  const auto look_below = [](auto child) -> task<const environment*> {
    co_return co_await child();
  };
  environment narrowed = tasks_.inherited();
  const auto compare = [&](const environment& own) -> task<std::array<const environment*, 3>> {
    const environment* here = co_await look();
    const environment* below = co_await look_below(look).in(own);
    const environment* after = co_await look_below(look);
    co_return std::array{here, below, after};
  };
  const auto seen = run(compare(narrowed));
  EXPECT_EQ(seen[0], &tasks_.inherited());
  EXPECT_EQ(seen[1], &narrowed);
  EXPECT_EQ(seen[2], &tasks_.inherited());
}

task<int> depth(stack_span& span, int left) {
  span.note();
  const int below = left == 0 ? 0 : co_await depth(span, left - 1);
  span.note();
  co_return below + 1;
}

TEST_F(task_test, a_chain_of_a_hundred_thousand_uses_no_stack) {
  stack_span stack;
  EXPECT_EQ(run(depth(stack, 99'999)), 100'000);
  EXPECT_LT(stack.bytes(), stack_span::some_frames_bytes);
}

task<void> throw_from(int left) {
  if (left == 0) throw std::runtime_error{"deep"};
  co_await throw_from(left - 1);
}

TEST_F(task_test, an_exception_climbs_a_long_chain) {
  EXPECT_THROW(run(throw_from(1000)), std::runtime_error);
}

#ifndef NDEBUG
TEST_F(task_death_test, awaiting_twice_is_a_mistake) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run([]() -> task<void> {
                 task<int> once = []() -> task<int> { co_return 1; }();
                 std::ignore = co_await std::move(once);
                 std::ignore = co_await std::move(once);  // NOLINT(bugprone-use-after-move)
               }()),
               "awaited once only");
}
#endif

}  // namespace
}  // namespace weft
