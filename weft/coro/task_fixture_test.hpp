// Runs a task to its end without a loop, for the tests of tasks; checks that no frame is left.
//
//   using my_test = task_fixture;
//   TEST_F(my_test, adds) { EXPECT_EQ(run(sum(1, 2)), 3); }
#pragma once

#include <exception>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include <weft/coro/manual_scheduler.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/task.hpp>

namespace weft {

class task_fixture : public ::testing::Test {
 protected:
  ~task_fixture() override { EXPECT_EQ(frame_pool::live_frames(), frames_before_); }

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

}  // namespace weft
