#include <weft/realtime/deadline_miss.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace weft::realtime {
namespace {

using std::chrono::microseconds;

constexpr run_shares usual{.wakeup = microseconds{5}, .work = microseconds{800}};

miss_cause cause_of(const deadline_miss& miss) { return find_cause(miss, usual); }

TEST(deadline_miss, is_put_down_to_what_took_longer_than_it_usually_does) {
  run_shares late = usual;
  late.wakeup = microseconds{300};
  EXPECT_EQ(cause_of({.shares = late}), miss_cause::late_wakeup);
  run_shares longer = usual;
  longer.work = microseconds{1100};
  EXPECT_EQ(cause_of({.shares = longer}), miss_cause::own_work);
}

TEST(deadline_miss, a_predecessor_is_named_if_it_took_half_of_what_others_had) {
  deadline_miss behind{.shares = usual};
  behind.shares.predecessors = microseconds{250};
  behind.before = {.longest = {.lasted = microseconds{125}, .kind = piece_kind::mail}, .count = 9};
  EXPECT_EQ(cause_of(behind), miss_cause::long_predecessor);
  behind.before.longest.lasted = microseconds{124};
  EXPECT_EQ(cause_of(behind), miss_cause::many_predecessors);
  behind.cause = miss_cause::many_predecessors;
  EXPECT_TRUE(describe(behind).contains(": many predecessors, 9 of 124.0 us at most ("))
      << describe(behind);
}

TEST(deadline_miss, its_own_run_before_may_be_what_it_waited_for) {
  deadline_miss behind{.cause = miss_cause::long_predecessor, .shares = usual};
  behind.shares.predecessors = microseconds{250};
  behind.before = {.count = 1, .own_run = microseconds{200}};
  EXPECT_EQ(cause_of(behind), miss_cause::long_predecessor);
  EXPECT_TRUE(describe(behind).contains(": long predecessor, its own run before ("))
      << describe(behind);
}

TEST(deadline_miss, its_own_run_before_is_not_named_where_there_was_none) {
  deadline_miss behind{.cause = miss_cause::long_predecessor};
  behind.before.longest = {.lasted = microseconds{1}, .kind = piece_kind::mail};
  EXPECT_TRUE(describe(behind).contains(", mail of other shards (")) << describe(behind);
}

miss_cause cause_of_absence(const thread_usage& used, std::optional<duration> queued) {
  run_shares away = usual;
  away.absence = microseconds{400};
  return cause_of({.shares = away, .used = used, .queued = queued});
}

TEST(deadline_miss, time_off_the_processor_is_told_by_how_long_it_was_wanted) {
  EXPECT_EQ(cause_of_absence({.waits = 1}, microseconds{390}), miss_cause::preempted)
      << "it waited for a moment, and then for its processor";
  EXPECT_EQ(cause_of_absence({.preemptions = 9, .waits = 1}, microseconds{30}),
            miss_cause::blocked);
  EXPECT_EQ(cause_of_absence({.preemptions = 1, .waits = 2, .major_faults = 1}, microseconds{30}),
            miss_cause::page_faults);
  EXPECT_EQ(cause_of_absence({.preemptions = 1, .waits = 2, .major_faults = 1}, microseconds{390}),
            miss_cause::preempted);
}

TEST(deadline_miss, who_neither_ran_nor_waited_was_not_let_by_the_host) {
  EXPECT_EQ(cause_of_absence({}, duration::zero()), miss_cause::stolen);
  EXPECT_EQ(cause_of_absence({.preemptions = 1}, microseconds{10}), miss_cause::stolen);
}

TEST(deadline_miss, where_the_kernel_does_not_say_how_long_it_is_told_by_how_often) {
  EXPECT_EQ(cause_of_absence({.preemptions = 1}, {}), miss_cause::preempted);
  EXPECT_EQ(cause_of_absence({.preemptions = 1, .waits = 2, .major_faults = 1}, {}),
            miss_cause::page_faults);
  EXPECT_EQ(cause_of_absence({.waits = 1}, {}), miss_cause::blocked);
  EXPECT_EQ(cause_of_absence({}, {}), miss_cause::blocked);
}

TEST(deadline_miss, is_described_in_a_line) {
  const deadline_miss miss{.number = 7,
                           .deadline = microseconds{1000},
                           .cause = miss_cause::preempted,
                           .shares = {.wakeup = microseconds{5},
                                      .predecessors = microseconds{1},
                                      .work = microseconds{800},
                                      .absence = microseconds{400}},
                           .used = {.preemptions = 2, .minor_faults = 3},
                           .queued = microseconds{390}};
  EXPECT_EQ(miss.response(), microseconds{1206});
  EXPECT_EQ(
      describe(miss),
      "run 7 ended 1206.0 us after it was due, and not within 1000.0: preempted (woken after "
      "5.0 us, others ran for 1.0, itself 800.0, off the processor 400.0, 390.0 of them for want "
      "of it; 2 preemptions, 0 waits, 3 page faults, 0 of them from a disk)");
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
