#include <weft/realtime/utilisation.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include <weft/base/log.hpp>
#include <weft/loop/loop_fixture_test.hpp>
#include <weft/realtime/periodic.hpp>

namespace weft::realtime {
namespace {

using std::chrono::milliseconds;

class utilisation_test : public in_memory {
 protected:
  void SetUp() override {
    in_memory::SetUp();
    log::set_sink(
        [](log::level, std::string_view line, void* into) {
          static_cast<std::vector<std::string>*>(into)->emplace_back(line);
        },
        &lines_);
  }
  void TearDown() override {
    log::set_sink(nullptr, nullptr);
    in_memory::TearDown();
  }
  std::vector<std::string> lines_;
};

TEST_F(utilisation_test, is_nothing_where_nothing_is_periodic) {
  EXPECT_EQ(utilisation_of(*loop_).tasks, 0U);
  EXPECT_TRUE(utilisation_of(*loop_).fits());
}

TEST_F(utilisation_test, is_the_sum_of_what_the_loops_tasks_want) {
  const periodic first{*loop_, {.period = milliseconds{10}, .execution = milliseconds{5}}};
  {
    const periodic second{*loop_, {.period = milliseconds{20}, .execution = milliseconds{5}}};
    EXPECT_EQ(utilisation_of(*loop_).tasks, 2U);
    EXPECT_DOUBLE_EQ(utilisation_of(*loop_).worst, 0.75);
    EXPECT_DOUBLE_EQ(utilisation_of(*loop_).mean, 0) << "nothing has run";
  }
  EXPECT_DOUBLE_EQ(utilisation_of(*loop_).worst, 0.5);
  EXPECT_TRUE(lines_.empty());
}

TEST_F(utilisation_test, more_than_there_is_is_warned_of) {
  const periodic first{
      *loop_, {.period = milliseconds{10}, .execution = milliseconds{6}, .name = "control"}};
  const periodic second{*loop_, {.period = milliseconds{10}, .execution = milliseconds{5}}};
  EXPECT_FALSE(utilisation_of(*loop_).fits());
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(lines_.front(),
            "periodic tasks want 1.10 of their processor at worst, 0.00 on average, and may have "
            "1.00: control 0.60, a task 0.50");
}

TEST_F(utilisation_test, what_was_measured_counts_where_it_is_more) {
  loop_->spawn([](event_loop& loop) -> task<void> {
    periodic clock{loop, {.period = milliseconds{10}, .execution = duration{1}}};
    EXPECT_TRUE(co_await clock.next());
    while (thread_usage::read().processor < milliseconds{1}) {}
    EXPECT_TRUE(co_await clock.next());
    EXPECT_GE(utilisation_of(loop).worst,
              static_cast<double>(clock.record().execution.max()) / 1e7);
  }(*loop_));
  loop_->run();
}

}  // namespace
}  // namespace weft::realtime
