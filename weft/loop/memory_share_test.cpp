#include <weft/loop/memory_share.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/coro/stop_token.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/loop_fixture_test.hpp>
#include <weft/loop/shared_text.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t slice = memory_budget::slice_bytes;
constexpr auto bodies = memory_kind::bodies;
constexpr auto low = memory_priority::low;
constexpr auto normal = memory_priority::normal;
constexpr auto high = memory_priority::high;

/// Somebody who has tried to reserve, and keeps what was given until it is told.
struct customer {
  std::optional<error> refused;
  memory_reservation memory;
};

/// A budget of 16 slices, of which a loop without connections has taken none.
class memory_share_test : public loop_fixture {
 protected:
  void SetUp() override {
    open({.backend = backend_kind::simulated, .memory = &budget_});
    share_ = &loop_->memory();
  }

  void ask(customer& who, std::size_t size_bytes, memory_priority as,
           duration patience = seconds{1}, stop_token stop = {}) {
    environments_.push_back({.stop = stop, .runs_on = loop_.get()});
    loop_->spawn_in(environments_.back(), wait(*share_, who, size_bytes, as, patience));
    settle();
  }
  static task<void> wait(memory_share& from, customer& who, std::size_t size_bytes,
                         memory_priority as, duration patience) {
    auto memory = co_await with_timeout(patience, reserve_memory(from, bodies, size_bytes, as));
    if (memory)
      who.memory = std::move(*memory);
    else
      who.refused = memory.error();
  }
  void pass(duration length) {
    loop_->spawn([](event_loop& on, duration how_long) -> task<void> {
      static_cast<void>(co_await sleep_for(on, how_long));
    }(*loop_, length));
    const time_point until = loop_->now() + length;
    while (loop_->now() < until) loop_->run_once(until);
    settle();
  }

  std::deque<environment> environments_;  // of tasks under way
  memory_budget budget_{16 * slice};
  memory_share* share_ = nullptr;
};

TEST_F(memory_share_test, a_reservation_is_split_and_joined) {
  const auto in_use = [&](memory_kind of) {
    return share_->gauges().bytes[std::to_underlying(of)];
  };
  const std::size_t before = budget_.taken();
  {
    memory_reservation whole = share_->try_reserve(bodies, 3 * slice, low);
    memory_reservation part = whole.split(slice, memory_kind::replies);
    EXPECT_EQ(whole.bytes(), 2 * slice);
    EXPECT_EQ(part.bytes(), slice);
    EXPECT_EQ(in_use(bodies), 2 * slice);
    EXPECT_EQ(in_use(memory_kind::replies), slice);
    const memory_reservation rest = whole.split(9 * slice, memory_kind::replies);
    EXPECT_EQ(rest.bytes(), 2 * slice) << "no more than there is";
    EXPECT_EQ(whole.bytes(), 0U);
    memory_reservation other = share_->try_reserve(bodies, slice, low);
    part.join(std::move(other));
    EXPECT_EQ(part.bytes(), 2 * slice);
    EXPECT_EQ(in_use(memory_kind::replies), 4 * slice);
    memory_reservation none;
    EXPECT_EQ(none.split(slice, bodies).bytes(), 0U);
    none.join(std::move(part));
    EXPECT_EQ(none.bytes(), 2 * slice);
    none.join({});
    EXPECT_EQ(none.bytes(), 2 * slice);
  }
  EXPECT_EQ(in_use(memory_kind::replies) + in_use(bodies), 0U);
  EXPECT_LE(budget_.taken(), before + slice);
}

TEST_F(memory_share_test, takes_slices_and_gives_them_back) {
  auto first = share_->try_reserve(bodies, 100, low);
  ASSERT_TRUE(first);
  EXPECT_EQ(first.bytes(), 100U);
  EXPECT_EQ(budget_.taken(), slice);
  const auto second = share_->try_reserve(bodies, 3 * slice, low);
  ASSERT_TRUE(second);
  EXPECT_EQ(budget_.taken(), 4 * slice);
  EXPECT_EQ(share_->gauges().bytes[std::to_underlying(bodies)], 3 * slice + 100);
  first.reset();
  EXPECT_EQ(budget_.taken(), 4 * slice) << "a slice is kept for the next";
}

TEST_F(memory_share_test, counts_without_allocating_or_asking_the_budget) {
  const auto kept = share_->try_reserve(bodies, 100, low);
  const testing::allocation_counter counter;
  for (int i = 0; i < 1'000; ++i) {
    share_->add(memory_kind::output, 4'000);
    share_->remove(memory_kind::output, 4'000);
  }
  EXPECT_EQ(counter.allocations(), 0U);
  EXPECT_EQ(budget_.taken(), slice);
}

TEST_F(memory_share_test, less_urgent_work_leaves_room_for_more_urgent_work) {
  const auto half = share_->try_reserve(bodies, 8 * slice, low);
  ASSERT_TRUE(half);
  EXPECT_FALSE(share_->try_reserve(bodies, 1, low));
  const auto quarter = share_->try_reserve(memory_kind::replies, 4 * slice, normal);
  ASSERT_TRUE(quarter);
  EXPECT_FALSE(share_->try_reserve(memory_kind::replies, 1, normal));
  EXPECT_TRUE(share_->try_reserve(memory_kind::output, 4 * slice, high));
}

TEST_F(memory_share_test, makes_wait_until_there_is_enough_first_come_first_served) {
  auto all = share_->try_reserve(bodies, 8 * slice, low);
  customer large;
  customer small;
  ask(large, 6 * slice, low);
  ask(small, 1, low);
  EXPECT_FALSE(large.memory);
  EXPECT_FALSE(small.memory) << "who comes later does not pass who waits";
  EXPECT_FALSE(share_->try_reserve(bodies, 1, low));
  EXPECT_EQ(budget_.taken(), 8 * slice) << "who waits holds nothing";
  all.shrink(4 * slice);
  settle();
  EXPECT_FALSE(small.memory);
  customer late;
  ask(late, 1, low);
  EXPECT_FALSE(late.memory) << "though there is enough for it";
  EXPECT_FALSE(share_->try_reserve(bodies, 1, low)) << "nor does who does not wait";
  all.reset();
  settle();
  EXPECT_EQ(large.memory.bytes(), 6 * slice);
  EXPECT_EQ(small.memory.bytes(), 1U);
  EXPECT_EQ(late.memory.bytes(), 1U);
  EXPECT_EQ(share_->gauges().waits, 3U);
  EXPECT_EQ(share_->gauges().refused, 0U);
}

TEST_F(memory_share_test, more_urgent_work_passes_who_waits) {
  const auto all = share_->try_reserve(bodies, 8 * slice, low);
  customer waiting;
  ask(waiting, 1, low);
  EXPECT_TRUE(share_->try_reserve(bodies, 1, normal));
  customer urgent;
  ask(urgent, 1, normal);
  EXPECT_TRUE(urgent.memory);
  EXPECT_FALSE(waiting.memory);
  pass(seconds{2});
  EXPECT_EQ(waiting.refused, errc::timed_out);
}

TEST_F(memory_share_test, who_waits_too_long_is_refused_and_leaves_the_line) {
  const auto most = share_->try_reserve(bodies, 7 * slice, low);
  customer large;
  customer small;
  ask(large, 4 * slice, low, milliseconds{100});
  ask(small, slice, low, seconds{10});
  EXPECT_FALSE(small.memory);
  pass(milliseconds{200});
  EXPECT_EQ(large.refused, errc::timed_out);
  EXPECT_TRUE(small.memory) << "what was too much for one is enough for the next";
  EXPECT_EQ(share_->gauges().refused, 1U);
}

TEST_F(memory_share_test, a_cancelled_wait_holds_nothing_whichever_comes_first) {
  auto all = share_->try_reserve(bodies, 8 * slice, low);
  stop_source before;
  customer first;
  ask(first, slice, low, seconds{10}, before.token());
  before.request_stop();
  all.reset();  // the stop came first
  settle();
  EXPECT_EQ(first.refused, errc::cancelled);
  EXPECT_FALSE(first.memory);

  all = share_->try_reserve(bodies, 8 * slice, low);
  ASSERT_TRUE(all);
  stop_source after;
  customer second;
  ask(second, slice, low, seconds{10}, after.token());
  all.reset();  // the memory came first, and is the waiter's, who gives it back
  after.request_stop();
  settle();
  EXPECT_TRUE(second.memory);
  second.memory.reset();
  EXPECT_EQ(share_->gauges().bytes[std::to_underlying(bodies)], 0U);
}

TEST_F(memory_share_test, what_can_never_be_had_is_refused_at_once) {
  customer too_much;
  ask(too_much, 8 * slice + 1, low);
  EXPECT_EQ(too_much.refused, errc::limit_exceeded);
  EXPECT_TRUE(share_->may_ever_have(8 * slice, low));
}

TEST_F(memory_share_test, what_others_hold_for_good_can_never_be_had) {
  const auto cache = share_->hold(memory_kind::caches, 2 * slice);
  const auto rows = share_->hold(memory_kind::queries, 3 * slice);  // for a while
  customer too_much;
  ask(too_much, 6 * slice + 1, low);
  EXPECT_EQ(too_much.refused, errc::limit_exceeded);
  EXPECT_TRUE(share_->may_ever_have(6 * slice, low));
  EXPECT_FALSE(share_->try_reserve(bodies, 6 * slice, low));
}

TEST_F(memory_share_test, no_size_is_so_large_that_it_passes_for_a_small_one) {
  const auto some = share_->try_reserve(bodies, 100, low);
  for (const std::size_t huge : {SIZE_MAX, SIZE_MAX - 200, SIZE_MAX - slice})
    EXPECT_FALSE(share_->try_reserve(bodies, huge, memory_priority::high)) << huge;
  EXPECT_EQ(budget_.taken(), slice);
}

TEST_F(memory_share_test, who_waits_gets_what_another_shard_gives_back) {
  ASSERT_TRUE(budget_.take(8 * slice, low));  // another shard's
  customer waiting;
  ask(waiting, slice, low);
  EXPECT_FALSE(waiting.memory);
  budget_.give_back(8 * slice);
  pass(milliseconds{50});
  EXPECT_TRUE(waiting.memory);
}

/// Somebody who takes nothing.
struct reader : slow_peer {
  static std::size_t held(slow_peer& self) noexcept {
    return static_cast<reader&>(self).memory.bytes();
  }
  static void dropped(slow_peer& self) noexcept {
    auto& who = static_cast<reader&>(self);
    who.is_dropped = true;
    who.memory.reset();
  }
  static constexpr slow_peer_kind kind{.held_bytes = &held, .drop = &dropped};

  memory_reservation memory;
  bool is_dropped = false;
};

TEST_F(memory_share_test, beyond_the_limit_the_slowest_readers_are_dropped_first) {
  reader oldest, middle, latest;
  for (reader* each : {&oldest, &middle, &latest}) {
    each->memory = share_->hold(memory_kind::output, 6 * slice);
    if (each == &latest) break;
    share_->note_stalled(*each, reader::kind);
    pass(milliseconds{20});
  }
  share_->note_stalled(latest, reader::kind);
  pass(milliseconds{50});
  EXPECT_TRUE(oldest.is_dropped);
  EXPECT_FALSE(middle.is_dropped);
  EXPECT_FALSE(latest.is_dropped);
  EXPECT_EQ(share_->gauges().dropped_peers, 1U);
  EXPECT_LE(budget_.taken(), budget_.limit());
  share_->note_progress(middle);
  share_->note_progress(latest);
}

TEST_F(memory_share_test, beyond_the_limit_readers_are_dropped_until_it_is_kept) {
  reader first, second, third;
  first.memory = share_->hold(memory_kind::output, 10 * slice);
  share_->note_stalled(first, reader::kind);
  second.memory = share_->hold(memory_kind::output, 10 * slice);
  share_->note_stalled(second, reader::kind);
  settle();
  ASSERT_TRUE(first.is_dropped);
  ASSERT_FALSE(second.is_dropped);
  // More than the limit again, before what was dropped is looked at; and a part of it goes by
  // itself.
  third.memory = share_->hold(memory_kind::output, 12 * slice);
  share_->note_stalled(third, reader::kind);
  settle();
  third.memory.shrink(8 * slice);
  ASSERT_GT(budget_.taken(), budget_.limit());
  pass(milliseconds{100});
  EXPECT_TRUE(second.is_dropped);
  EXPECT_LE(budget_.taken(), budget_.limit());
  if (!third.is_dropped) share_->note_progress(third);
}

TEST_F(memory_share_test, those_who_hold_next_to_nothing_are_left_alone) {
  reader small, large;
  small.memory = share_->hold(memory_kind::output, 100);
  share_->note_stalled(small, reader::kind);
  large.memory = share_->hold(memory_kind::output, 17 * slice);
  share_->note_stalled(large, reader::kind);
  pass(milliseconds{50});
  EXPECT_FALSE(small.is_dropped);
  EXPECT_TRUE(large.is_dropped);
  share_->note_progress(small);
}

TEST_F(memory_share_test, where_memory_is_held_elsewhere_who_takes_nothing_for_long_is_dropped) {
  reader first, second;
  share_->note_stalled(first, reader::kind);
  pass(milliseconds{10});
  share_->note_stalled(second, reader::kind);
  const auto elsewhere = share_->hold(memory_kind::output, 17 * slice);
  pass(milliseconds{100});
  EXPECT_FALSE(first.is_dropped);
  pass(milliseconds{500});
  share_->add(memory_kind::output, slice);
  pass(milliseconds{20});
  EXPECT_TRUE(first.is_dropped);
  share_->remove(memory_kind::output, slice);
  if (!second.is_dropped) share_->note_progress(second);
}

TEST_F(memory_share_test, for_who_waits_only_those_are_dropped_who_take_nothing_for_long) {
  reader slow;
  slow.memory = share_->hold(memory_kind::output, 8 * slice);
  share_->note_stalled(slow, reader::kind);
  customer waiting;
  ask(waiting, 4 * slice, low, seconds{5});
  pass(milliseconds{300});
  EXPECT_FALSE(slow.is_dropped);
  EXPECT_FALSE(waiting.memory);
  pass(milliseconds{400});
  EXPECT_TRUE(slow.is_dropped);
  EXPECT_TRUE(waiting.memory);
}

TEST_F(memory_share_test, a_shared_text_counts_once) {
  shared_text page{std::string(100'000, 'x'), share_};
  const std::uint64_t once = share_->gauges().bytes[std::to_underlying(memory_kind::shared)];
  EXPECT_GE(once, 100'000U);
  {
    const std::vector<shared_text> many(1'000, page);
    EXPECT_EQ(share_->gauges().bytes[std::to_underlying(memory_kind::shared)], once);
    page = {};
    EXPECT_EQ(many.front().size(), 100'000U);
  }
  EXPECT_EQ(share_->gauges().bytes[std::to_underlying(memory_kind::shared)], 0U);
}

TEST(memory_budget, is_unlimited_until_somebody_sets_its_limit) {
  memory_budget budget;
  EXPECT_TRUE(budget.take(std::size_t{1} << 60U, memory_priority::high));
  budget.give_back(std::size_t{1} << 60U);
  budget.set_limit(slice);
  EXPECT_FALSE(budget.take(2 * slice, memory_priority::high));
  EXPECT_TRUE(budget.take(slice, memory_priority::high));
  EXPECT_EQ(budget.taken(), slice);
}

}  // namespace
}  // namespace weft
