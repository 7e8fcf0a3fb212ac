#include <weft/coro/task.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/coro/manual_scheduler.hpp>
#include <weft/coro/scope.hpp>

namespace weft {
namespace {

static_assert(!std::is_copy_constructible_v<task<int>>);
static_assert(std::is_nothrow_move_constructible_v<task<int>>);
static_assert(std::is_nothrow_move_assignable_v<task<int>>);
template <class T>
concept awaitable_as = requires(T&& t) { static_cast<T&&>(t).operator co_await(); };
static_assert(awaitable_as<task<int>>);
static_assert(!awaitable_as<task<int>&>, "a named task is awaited by std::move");

class task_test : public testing::Test {
 protected:
  ~task_test() override { EXPECT_EQ(frame_pool::live_frames(), frames_before_); }

  /// Runs `work` to its end and gives its value; an exception that leaves it is thrown from here.
  template <class T>
  T run(task<T> work) {
    std::optional<T> value;
    run([](task<T> inner, std::optional<T>& into) -> task<void> {
      into.emplace(co_await std::move(inner));
    }(std::move(work), value));
    return std::move(*value);
  }
  void run(task<void> work) {
    std::exception_ptr thrown;
    tasks_.spawn([](task<void> inner, std::exception_ptr& into) -> task<void> {
      try {
        co_await std::move(inner);
      } catch (...) {
        into = std::current_exception();
      }
    }(std::move(work), thrown));
    ready_.run();
    EXPECT_EQ(tasks_.active(), 0U);
    if (thrown) std::rethrow_exception(thrown);
  }

  std::size_t frames_before_ = frame_pool::live_frames();
  manual_scheduler ready_;
  scope tasks_{environment{.runs_on = &ready_}};
};

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

/// How far apart the stack pointers of the calls were.
class stack_span {
 public:
  [[gnu::noinline]] void note() {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    lowest_ = std::min(lowest_, here);
    highest_ = std::max(highest_, here);
  }
  [[nodiscard]] std::size_t bytes() const { return highest_ - lowest_; }

 private:
  std::uintptr_t lowest_ = UINTPTR_MAX;
  std::uintptr_t highest_ = 0;
};

constexpr std::size_t some_frames_bytes = 16 * 1024;

TEST_F(task_test, a_million_awaits_use_no_stack) {
  stack_span stack;
  const auto add = [](stack_span& span, int to) -> task<int> {
    span.note();
    co_return to + 1;
  };
  const auto sum = [&add](stack_span& span) -> task<int> {
    int total = 0;
    for (int i = 0; i < 1'000'000; ++i) total = co_await add(span, total);
    co_return total;
  };
  EXPECT_EQ(run(sum(stack)), 1'000'000);
  EXPECT_LT(stack.bytes(), some_frames_bytes);
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
  EXPECT_LT(stack.bytes(), some_frames_bytes);
}

task<void> throw_from(int left) {
  if (left == 0) throw std::runtime_error{"deep"};
  co_await throw_from(left - 1);
}

TEST_F(task_test, an_exception_climbs_a_long_chain) {
  EXPECT_THROW(run(throw_from(1000)), std::runtime_error);
}

// The shapes of co_await expressions that compilers have got wrong: temporaries with destructors,
// in aggregates and closures above all. Each must be destroyed exactly once; AddressSanitizer sees
// the second time, the count the missing one.

class counted {
 public:
  explicit counted(int& alive) : alive_{&alive} { ++*alive_; }
  counted(const counted& other) : alive_{other.alive_} { ++*alive_; }
  counted(counted&& other) noexcept : alive_{other.alive_} { ++*alive_; }
  counted& operator=(const counted&) = delete;
  counted& operator=(counted&&) = delete;
  ~counted() { --*alive_; }

 private:
  int* alive_;
  std::unique_ptr<int> owned_ = std::make_unique<int>(0);  // a second destruction is a double free
};

struct bundle {
  counted held;
  std::string text;
  int number = 1;
};

class task_shape_test : public task_test {
 protected:
  ~task_shape_test() override { EXPECT_EQ(alive_, 0); }

  static task<int> by_value(bundle b) { co_return b.number; }
  static task<int> by_reference(const bundle& b) { co_return b.number; }
  template <class F>
  static task<int> call(F f) {
    co_return f();
  }
  template <class F>
  static task<int> call_reference(const F& f) {
    co_return f();
  }
  static task<bundle> make(int& alive) {
    co_return bundle{counted{alive}, "a text on the heap, by its length", 5};
  }

  int alive_ = 0;
};

TEST_F(task_shape_test, closure_with_captures) {
  EXPECT_EQ(run([](int& alive) -> task<int> {
              const counted c{alive};
              const int value = co_await call([c] { return 2; });
              EXPECT_EQ(alive, 1);
              co_return value + co_await call_reference([c, text = std::string(50, 'x')] {
                return static_cast<int>(text.size());
              });
            }(alive_)),
            52);
}

TEST_F(task_shape_test, aggregate_temporaries) {
  EXPECT_EQ(run([](int& alive) -> task<int> {
              int sum = co_await by_value(bundle{counted{alive}, std::string(50, 'a'), 1});
              EXPECT_EQ(alive, 0);
              sum += co_await by_value({.held = counted{alive}, .text = std::string(50, 'b')});
              EXPECT_EQ(alive, 0);
              sum += co_await by_reference(bundle{counted{alive}, std::string(50, 'c'), 2});
              EXPECT_EQ(alive, 0);
              sum += co_await by_reference({.held = counted{alive}, .text = "d", .number = 3});
              EXPECT_EQ(alive, 0);
              co_return sum;
            }(alive_)),
            7);
}

TEST_F(task_shape_test, list_of_strings) {
  const auto count = [](std::vector<std::string> texts) -> task<std::size_t> {
    co_return texts.size();
  };
  EXPECT_EQ(run([](auto inner) -> task<std::size_t> {
              co_return co_await inner({"one that is too long to be stored inside", "b"});
            }(count)),
            2U);
}

TEST_F(task_shape_test, both_arms_of_a_condition) {
  const auto choose = [](int& alive, bool awaits) -> task<int> {
    const bundle chosen = awaits ? co_await make(alive) : bundle{counted{alive}, "x", 9};
    EXPECT_EQ(alive, 1);
    co_return chosen.number;
  };
  EXPECT_EQ(run(choose(alive_, true)), 5);
  EXPECT_EQ(run(choose(alive_, false)), 9);
}

TEST_F(task_shape_test, structured_binding_of_the_answer) {
  EXPECT_EQ(run([](int& alive) -> task<int> {
              auto [held, text, number] = co_await make(alive);
              EXPECT_EQ(alive, 1);
              co_return number + static_cast<int>(text.size());
            }(alive_)),
            5 + 33);
}

TEST_F(task_shape_test, initialiser_of_a_condition_and_of_a_range) {
  EXPECT_EQ(run([](int& alive) -> task<int> {
              int sum = 0;
              if (auto got = co_await make(alive); got.number == 5) sum += got.number;
              EXPECT_EQ(alive, 0);
              for (const char c : (co_await make(alive)).text) sum += c == 'a' ? 1 : 0;
              EXPECT_EQ(alive, 0);
              co_return sum;
            }(alive_)),
            5 + 2);
}

TEST_F(task_shape_test, several_awaits_in_one_expression) {
  EXPECT_EQ(
      run([](int& alive) -> task<int> {
        co_return co_await by_value(co_await make(alive)) +
            co_await by_reference(bundle{counted{alive}, "x", co_await call([] { return 4; })});
      }(alive_)),
      9);
}

/// An awaiter that is an aggregate with members to destroy.
struct aggregate_awaiter {
  counted held;
  bool suspends;
  bool await_ready() const noexcept { return !suspends; }
  bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
  int await_resume() const noexcept { return 6; }
};

TEST_F(task_shape_test, aggregate_awaiter) {
  EXPECT_EQ(run([](int& alive) -> task<int> {
              const int sum = co_await aggregate_awaiter{counted{alive}, true} +
                              co_await aggregate_awaiter{.held = counted{alive}, .suspends = false};
              EXPECT_EQ(alive, 0);
              co_return sum;
            }(alive_)),
            12);
}

TEST_F(task_shape_test, temporaries_of_an_await_that_throws) {
  const auto thrower = [](bundle) -> task<int> {
    throw std::runtime_error{"thrown"};
    co_return 0;
  };
  EXPECT_EQ(run([](auto inner, int& alive) -> task<int> {
              try {
                std::ignore = co_await inner({counted{alive}, std::string(50, 'x'), 1});
              } catch (const std::runtime_error&) {
                EXPECT_EQ(alive, 0);
              }
              co_return 1;
            }(thrower, alive_)),
            1);
}

TEST_F(task_shape_test, a_value_not_taken_is_destroyed_with_the_task) {
  run([](int& alive) -> task<void> {
    {
      auto work = make(alive);
      std::ignore = co_await std::move(work);
    }
    EXPECT_EQ(alive, 0);
  }(alive_));
}

using task_death_test = task_test;

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
