#include <weft/coro/task.hpp>

#include <gtest/gtest.h>

#include <coroutine>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/coro/task_fixture_test.hpp>

namespace weft {
namespace {

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

class task_shape_test : public task_fixture {
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

}  // namespace
}  // namespace weft
