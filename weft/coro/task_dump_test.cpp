#include <weft/coro/task_dump.hpp>

#include <gtest/gtest.h>

#include <weft/coro/event.hpp>
#include <weft/coro/manual_scheduler.hpp>
#include <weft/coro/scope.hpp>

namespace weft {
namespace {

class task_dump_test : public ::testing::Test {
 protected:
  task<void> wait_inside() { std::ignore = co_await gate_.wait(); }
  task<void> wait_outside() {
    co_await nothing();
    co_await wait_inside();
  }
  static task<void> nothing() { co_return; }

  manual_scheduler scheduler_;
  event gate_;
  scope tasks_{environment{.runs_on = &scheduler_}};
};

TEST_F(task_dump_test, names_each_place_a_task_waits_in) {
  tasks_.spawn(wait_outside());
  scheduler_.run();
  const auto all = unfinished_tasks(scheduler_);
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].size(), 2U);
  EXPECT_NE(std::string_view{all[0][0].function_name()}.find("wait_outside"), std::string::npos);
  EXPECT_NE(std::string_view{all[0][1].function_name()}.find("wait_inside"), std::string::npos);
  const std::string text = dump_tasks(scheduler_);
  EXPECT_TRUE(text.starts_with("1 task\n")) << text;
  EXPECT_NE(text.find("task_dump_test.cpp:"), std::string::npos) << text;
  gate_.set();
  scheduler_.run();
  EXPECT_EQ(dump_tasks(scheduler_), "0 tasks\n");
}

TEST_F(task_dump_test, a_task_that_has_not_begun_is_shown_where_its_body_is) {
  tasks_.spawn(nothing());
  const std::string text = dump_tasks(scheduler_);
  EXPECT_NE(text.find("nothing"), std::string::npos) << text;
  EXPECT_NE(text.find("task_dump_test.cpp:"), std::string::npos) << text;
  scheduler_.run();
}

TEST_F(task_dump_test, a_chain_can_be_told_in_one_line) {
  tasks_.spawn(wait_outside());
  scheduler_.run();
  const std::string text = describe_briefly(unfinished_tasks(scheduler_).at(0));
  const std::size_t outside = text.find("wait_outside");
  const std::size_t inside = text.find("wait_inside");
  EXPECT_NE(outside, std::string::npos) << text;
  EXPECT_NE(inside, std::string::npos) << text;
  EXPECT_LT(outside, text.find(" > ")) << text;
  EXPECT_GT(inside, text.find(" > ")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  gate_.set();
  scheduler_.run();
}

TEST_F(task_dump_test, forgets_who_was_awaited_once_that_has_ended) {
  tasks_.spawn([](event& gate) -> task<void> {
    co_await nothing();
    std::ignore = co_await gate.wait();
  }(gate_));
  scheduler_.run();
  EXPECT_EQ(unfinished_tasks(scheduler_).at(0).size(), 1U);
  gate_.set();
  scheduler_.run();
}

TEST_F(task_dump_test, knows_the_tasks_of_every_scope) {
  scope more{environment{.runs_on = &scheduler_}};
  tasks_.spawn(wait_inside());
  more.spawn(wait_inside());
  scheduler_.run();
  EXPECT_EQ(unfinished_tasks(scheduler_).size(), 2U);
  gate_.set();
  scheduler_.run();
}

}  // namespace
}  // namespace weft
