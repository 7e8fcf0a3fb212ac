#include <weft/coro/scope.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <weft/coro/manual_scheduler.hpp>
#include <weft/coro/task_failures.hpp>

namespace weft {
namespace {

/// Awaitable: stays suspended until the test says go().
class gate : private runnable {
 public:
  explicit gate(scheduler& runs_on) noexcept : runnable{&on_run}, runs_on_{runs_on} {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { waiting_ = waiting; }
  void await_resume() const noexcept {}
  void go() noexcept { runs_on_.schedule(*this, priority::normal); }

 private:
  static void on_run(runnable& self) noexcept { static_cast<gate&>(self).waiting_.resume(); }
  scheduler& runs_on_;
  std::coroutine_handle<> waiting_;
};

class scope_test : public ::testing::Test {
 protected:
  ~scope_test() override { EXPECT_EQ(frame_pool::live_frames(), frames_before_); }

  task<void> note(int what) {
    order_.push_back(what);
    co_return;
  }
  static task<void> wait_for(gate& barrier) { co_await barrier; }
  static std::string text_of(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& known) {
      return known.what();
    } catch (int) {
      return "a number";
    }
  }
  static task<void> throw_text(const char* text) {
    throw std::runtime_error{text};
    co_return;
  }

  /// Joins `tasks` from a task of its own; how it ended stands in joined_.
  void join(scope& tasks) {
    joiners_.spawn([](scope& joined, std::string& ended) -> task<void> {
      try {
        co_await joined.join();
        ended = "in order";
      } catch (const std::exception& failure) {
        ended = failure.what();
      }
    }(tasks, joined_));
    ready_.run();
  }

  std::size_t frames_before_ = frame_pool::live_frames();
  manual_scheduler ready_;
  stop_source outer_;
  environment outside_{.stop = outer_.token(),
                       .until = deadline::at(time_point{std::chrono::seconds{7}}),
                       .runs_on = &ready_};
  scope joiners_{environment{.runs_on = &ready_}};
  std::vector<int> order_;
  std::string joined_ = "not yet";
};

TEST_F(scope_test, keeps_a_lambda_with_its_captures_until_its_task_has_ended) {
  gate open{ready_};
  std::string seen;
  scope tasks{environment{.runs_on = &ready_}};
  tasks.spawn([&open, &seen, text = std::string(100, 'a')]() -> task<void> {
    co_await open;
    seen = text;
  });
  ready_.run();
  EXPECT_EQ(tasks.active(), 1U);
  open.go();
  ready_.run();
  EXPECT_EQ(tasks.active(), 0U);
  EXPECT_EQ(seen, std::string(100, 'a'));
}

TEST_F(scope_test, tasks_inherit_all_of_the_environment_but_its_stop_token) {
  // Nobody looks behind these pointers.
  int service = 0;
  int request = 0;
  outside_.owner = reinterpret_cast<lifetime*>(&service);
  outside_.called_by = &outside_;
  outside_.trace = reinterpret_cast<const telemetry::trace_context*>(&request);
  environment seen;
  scope tasks{outside_};
  tasks.spawn(
      [](environment& into) -> task<void> { into = co_await this_task::environment(); }(seen));
  ready_.run();
  EXPECT_EQ(seen.until.when(), outside_.until.when());
  EXPECT_EQ(seen.runs_on, outside_.runs_on);
  EXPECT_EQ(seen.owner, outside_.owner);
  EXPECT_EQ(seen.called_by, outside_.called_by);
  EXPECT_EQ(seen.trace, outside_.trace);
  EXPECT_FALSE(seen.stop.stop_requested());
  outer_.request_stop();
  EXPECT_TRUE(seen.stop.stop_requested());
}

TEST_F(scope_test, spawned_tasks_start_from_the_ready_queue_in_order) {
  scope tasks{outside_};
  tasks.spawn(note(1));
  tasks.spawn(note(2));
  EXPECT_TRUE(order_.empty());
  EXPECT_EQ(tasks.active(), 2U);
  ready_.run();
  EXPECT_EQ(order_, (std::vector{1, 2}));
  EXPECT_EQ(tasks.active(), 0U);
}

TEST_F(scope_test, a_more_urgent_band_starts_first) {
  scope tasks{outside_};
  tasks.spawn(note(3), priority::low);
  tasks.spawn(note(2));
  tasks.spawn(note(1), priority::critical);
  ready_.run();
  EXPECT_EQ(order_, (std::vector{1, 2, 3}));
}

TEST_F(scope_test, join_of_an_empty_scope_does_not_wait) {
  scope tasks{outside_};
  join(tasks);
  EXPECT_EQ(joined_, "in order");
}

TEST_F(scope_test, join_waits_for_the_last_task) {
  scope tasks{outside_};
  gate first{ready_};
  gate second{ready_};
  tasks.spawn(wait_for(first));
  tasks.spawn(wait_for(second));
  join(tasks);
  EXPECT_EQ(joined_, "not yet");
  second.go();
  ready_.run();
  EXPECT_EQ(joined_, "not yet");
  first.go();
  ready_.run();
  EXPECT_EQ(joined_, "in order");
}

TEST_F(scope_test, join_waits_for_tasks_that_tasks_spawn) {
  scope tasks{outside_};
  gate barrier{ready_};
  tasks.spawn([](scope& own, gate& until) -> task<void> {
    own.spawn(wait_for(until));
    co_return;
  }(tasks, barrier));
  join(tasks);
  EXPECT_EQ(tasks.active(), 1U);
  EXPECT_EQ(joined_, "not yet");
  barrier.go();
  ready_.run();
  EXPECT_EQ(joined_, "in order");
}

TEST_F(scope_test, join_waits_for_what_others_spawn_before_it_is_resumed) {
  scope tasks{outside_};
  gate first{ready_};
  gate second{ready_};
  tasks.spawn(wait_for(first));
  join(tasks);
  first.go();
  EXPECT_TRUE(ready_.step());  // the task ends, and the joiner is queued
  EXPECT_EQ(tasks.active(), 0U);
  tasks.spawn(wait_for(second));
  ready_.run();
  EXPECT_EQ(joined_, "not yet");
  second.go();
  ready_.run();
  EXPECT_EQ(joined_, "in order");
}

TEST_F(scope_test, a_scope_can_be_used_again_after_join) {
  scope tasks{outside_};
  tasks.spawn(note(1));
  join(tasks);
  EXPECT_EQ(joined_, "in order");
  joined_ = "not yet";
  tasks.spawn(note(2));
  join(tasks);
  EXPECT_EQ(joined_, "in order");
  EXPECT_EQ(order_, (std::vector{1, 2}));
}

TEST_F(scope_test, the_first_failure_stops_the_siblings_and_leaves_by_join) {
  scope tasks{outside_};
  gate barrier{ready_};
  tasks.spawn(wait_for(barrier));
  tasks.spawn(throw_text("first"));
  tasks.spawn(throw_text("second"));
  join(tasks);
  EXPECT_TRUE(tasks.token().stop_requested());
  EXPECT_FALSE(outer_.stop_requested());
  EXPECT_EQ(joined_, "not yet");
  barrier.go();
  ready_.run();
  EXPECT_EQ(joined_, "first");
  join(tasks);
  EXPECT_EQ(joined_, "in order") << "a failure is reported once";
}

TEST_F(scope_test, one_that_collects_lets_the_siblings_run_on_and_gives_all_failures_in_order) {
  scope tasks{outside_, failure_policy::collect};
  gate barrier{ready_};
  tasks.spawn(throw_text("first"));
  tasks.spawn([](gate& until) -> task<void> {
    co_await until;
    throw 3;
  }(barrier));
  tasks.spawn(throw_text("second"));
  tasks.spawn(note(1));
  std::vector<std::string> texts;
  joiners_.spawn([](scope& joined, std::vector<std::string>& into) -> task<void> {
    try {
      co_await joined.join();
    } catch (const task_failures& failed) {
      into.emplace_back(failed.what());
      for (const std::exception_ptr& one : failed.all()) into.push_back(text_of(one));
    }
  }(tasks, texts));
  ready_.run();
  EXPECT_FALSE(tasks.token().stop_requested());
  EXPECT_EQ(order_, std::vector{1});
  EXPECT_TRUE(texts.empty()) << "join waits for all";
  barrier.go();
  ready_.run();
  EXPECT_EQ(texts, (std::vector<std::string>{"3 tasks failed; the first: first", "first", "second",
                                             "a number"}));
  join(tasks);
  EXPECT_EQ(joined_, "in order") << "failures are reported once";
}

TEST_F(scope_test, one_that_collects_gives_a_single_failure_in_the_same_way) {
  scope tasks{outside_, failure_policy::collect};
  tasks.spawn(throw_text("alone"));
  join(tasks);
  EXPECT_EQ(joined_, "a task failed: alone");
}

TEST_F(scope_test, tasks_inherit_deadline_scheduler_and_both_stops) {
  environment seen;
  const auto look = [](environment& into) -> task<void> {
    into = co_await this_task::environment();
  };
  scope tasks{outside_};
  tasks.spawn(look(seen));
  ready_.run();
  EXPECT_EQ(seen.until, outside_.until);
  EXPECT_EQ(seen.runs_on, &ready_);
  EXPECT_FALSE(seen.stop.stop_requested());
  tasks.request_stop();
  EXPECT_TRUE(seen.stop.stop_requested());
  EXPECT_FALSE(outer_.stop_requested());

  scope others{outside_};
  others.spawn(look(seen));
  ready_.run();
  outer_.request_stop();
  EXPECT_TRUE(seen.stop.stop_requested());
  EXPECT_TRUE(others.token().stop_requested());
}

TEST_F(scope_test, a_task_spawned_after_the_stop_is_told_so) {
  scope tasks{outside_};
  tasks.request_stop();
  bool told = false;
  tasks.spawn([](bool& into) -> task<void> {
    into = (co_await this_task::environment()).stop.stop_requested();
  }(told));
  ready_.run();
  EXPECT_TRUE(told);
}

TEST_F(scope_test, spawn_in_gives_a_task_an_environment_of_its_own) {
  scope tasks{outside_};
  environment narrowed = tasks.inherited();
  narrowed.until = deadline::at(time_point{std::chrono::seconds{3}});
  const environment* seen = nullptr;
  tasks.spawn_in(narrowed, [](const environment*& into) -> task<void> {
    into = &co_await this_task::environment();
  }(seen));
  ready_.run();
  EXPECT_EQ(seen, &narrowed);
}

TEST_F(scope_test, starts_a_task_in_line_and_owns_it_like_any_other) {
  scope tasks{outside_};
  gate barrier{ready_};
  tasks.start_in(tasks.inherited(), note(1));
  EXPECT_EQ(order_, std::vector{1});
  EXPECT_EQ(tasks.active(), 0U);
  tasks.start_in(tasks.inherited(), wait_for(barrier));
  EXPECT_EQ(tasks.active(), 1U);
  barrier.go();
  join(tasks);
  EXPECT_EQ(joined_, "in order");
  tasks.start_in(tasks.inherited(), throw_text("at once"));
  join(tasks);
  EXPECT_EQ(joined_, "at once");
}

TEST_F(scope_test, the_frame_is_gone_before_join_returns) {
  scope tasks{outside_};
  const std::size_t before = frame_pool::live_frames();
  std::size_t after = 0;
  tasks.spawn([](scope& outer, std::size_t& left) -> task<void> {
    scope inner{outer.inherited()};
    for (int i = 0; i < 100; ++i) inner.spawn([]() -> task<void> { co_return; }());
    co_await inner.join();
    left = frame_pool::live_frames();
  }(tasks, after));
  ready_.run();
  EXPECT_EQ(after, before + 1) << "only the task that looks";
}

using scope_death_test = scope_test;

TEST_F(scope_death_test, a_scope_insists_that_its_tasks_have_ended) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        gate barrier{ready_};
        scope tasks{outside_};
        tasks.spawn(wait_for(barrier));
        ready_.run();
      },
      "a scope ends after its tasks");
}

}  // namespace
}  // namespace weft
