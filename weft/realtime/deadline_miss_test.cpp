#include <weft/realtime/deadline_miss.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace weft::realtime {
namespace {

using std::chrono::microseconds;

constexpr run_shares usual{.wakeup = microseconds{5}, .work = microseconds{800}};

TEST(deadline_miss, is_put_down_to_what_took_longer_than_it_usually_does) {
  run_shares late = usual;
  late.wakeup = microseconds{300};
  EXPECT_EQ(find_cause(late, usual, {}), miss_cause::late_wakeup);
  run_shares behind = usual;
  behind.predecessors = microseconds{250};
  EXPECT_EQ(find_cause(behind, usual, {}), miss_cause::long_predecessor);
  run_shares longer = usual;
  longer.work = microseconds{1100};
  EXPECT_EQ(find_cause(longer, usual, {}), miss_cause::own_work);
}

TEST(deadline_miss, time_off_the_processor_is_told_by_what_the_kernel_counted) {
  run_shares away = usual;
  away.absence = microseconds{400};
  EXPECT_EQ(find_cause(away, usual, {.preemptions = 1}), miss_cause::preempted);
  EXPECT_EQ(find_cause(away, usual, {.preemptions = 1, .waits = 2, .major_faults = 1}),
            miss_cause::page_faults);
  EXPECT_EQ(find_cause(away, usual, {.waits = 1}), miss_cause::blocked);
}

TEST(deadline_miss, is_described_in_a_line) {
  const deadline_miss miss{.number = 7,
                           .deadline = microseconds{1000},
                           .cause = miss_cause::preempted,
                           .shares = {.wakeup = microseconds{5},
                                      .predecessors = microseconds{1},
                                      .work = microseconds{800},
                                      .absence = microseconds{400}},
                           .used = {.preemptions = 2, .minor_faults = 3}};
  EXPECT_EQ(miss.response(), microseconds{1206});
  EXPECT_EQ(describe(miss),
            "run 7 ended 1206.0 us after it was due, and not within 1000.0: preempted (woken after "
            "5.0 us, others ran for 1.0, itself 800.0, off the processor 400.0; 2 preemptions, 0 "
            "waits, 3 page faults, 0 of them from a disk)");
}

TEST(deadline_miss, says_of_a_throttled_task_by_what_and_how_much_it_may_have) {
  const deadline_miss miss{.task = "control",
                           .number = 7,
                           .deadline = microseconds{1000},
                           .cause = miss_cause::throttled,
                           .throttled_by = {.by = throttle::rt_runtime,
                                            .runtime = microseconds{950'000},
                                            .period = microseconds{1'000'000}}};
  EXPECT_TRUE(describe(miss).starts_with("control: run 7 ended ")) << describe(miss);
  EXPECT_TRUE(describe(miss).contains(
      ": throttled by rt_runtime, which leaves it 950000 of each 1000000 us ("))
      << describe(miss);
}

}  // namespace
}  // namespace weft::realtime
