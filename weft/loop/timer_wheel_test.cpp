#include <weft/loop/timer_wheel.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include <weft/base/random.hpp>

namespace weft {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr time_point start{hours{5}};
constexpr unsigned all_of_them = 1'000'000;
constexpr duration year = hours{24 * 365};

/// Notes its number when it fires, and does then what the test says.
struct probe : timer {
  probe(int n, std::vector<int>& into) : timer{firing}, number{n}, fired{into} {}
  static void fire(timer& self) noexcept {
    auto& here = static_cast<probe&>(self);
    here.fired.push_back(here.number);
    if (here.rearm_in != nullptr) here.rearm_in->arm(here, here.rearm_at);
    if (here.disarms != nullptr) here.rearm_by->disarm(*here.disarms);
  }
  static constexpr timer_kind firing{.on_expiry = &fire, .name = "probe"};
  int number;
  std::vector<int>& fired;
  timer_wheel* rearm_in = nullptr;
  time_point rearm_at;
  timer_wheel* rearm_by = nullptr;
  probe* disarms = nullptr;
};

class timer_wheel_test : public ::testing::Test {
 protected:
  probe& make() { return probes_.emplace_back(static_cast<int>(probes_.size()), fired_); }
  probe& arm(duration ahead) {
    probe& made = make();
    wheel_.arm(made, start + ahead);
    return made;
  }
  unsigned advance(duration to, unsigned limit = all_of_them) {
    return wheel_.advance(start + to, limit);
  }
  ~timer_wheel_test() override {
    for (probe& p : probes_) wheel_.disarm(p);
    EXPECT_EQ(wheel_.armed_count(), 0U);
    EXPECT_EQ(wheel_.next_due(), time_point::max());
  }

  std::vector<int> fired_;
  std::deque<probe> probes_;
  timer_wheel wheel_{start};
};

using fired = std::vector<int>;

TEST_F(timer_wheel_test, an_empty_wheel_is_never_due) {
  EXPECT_EQ(wheel_.next_due(), time_point::max());
  EXPECT_EQ(advance(year), 0U);
}

TEST_F(timer_wheel_test, fires_at_its_time_and_not_before) {
  const probe& p = arm(milliseconds{10});
  EXPECT_TRUE(p.armed());
  EXPECT_EQ(wheel_.next_due(), start + milliseconds{10});
  EXPECT_EQ(advance(milliseconds{10} - nanoseconds{1}), 0U);
  EXPECT_EQ(advance(milliseconds{10}), 1U);
  EXPECT_FALSE(p.armed());
  EXPECT_EQ(wheel_.armed_count(), 0U);
  EXPECT_EQ(advance(milliseconds{20}), 0U);
}

TEST_F(timer_wheel_test, a_time_between_ticks_is_rounded_up) {
  arm(milliseconds{10} + nanoseconds{1});
  EXPECT_EQ(advance(milliseconds{11} - nanoseconds{1}), 0U);
  EXPECT_EQ(advance(milliseconds{11}), 1U);
}

TEST_F(timer_wheel_test, a_time_in_the_past_fires_at_the_next_advance) {
  EXPECT_EQ(advance(seconds{100}), 0U);
  arm(seconds{1});
  arm(-seconds{1'000});
  EXPECT_LE(wheel_.next_due(), start + seconds{100});
  EXPECT_EQ(advance(seconds{100}), 2U);
}

TEST_F(timer_wheel_test, a_clock_that_stands_or_goes_back_does_no_harm) {
  EXPECT_EQ(advance(seconds{10}), 0U);
  arm(seconds{11});
  EXPECT_EQ(advance(seconds{5}), 0U);
  EXPECT_EQ(advance(seconds{10}), 0U);
  EXPECT_EQ(advance(seconds{11}), 1U);
}

TEST_F(timer_wheel_test, a_timer_armed_after_a_quiet_time_is_not_looked_at_before_it_is_due) {
  EXPECT_EQ(advance(hours{1}), 0U);
  arm(hours{1} + milliseconds{5});
  EXPECT_EQ(wheel_.next_due(), start + hours{1} + milliseconds{5});
}

TEST_F(timer_wheel_test, timers_fire_in_order_of_time) {
  arm(seconds{70});
  arm(milliseconds{3});
  arm(hours{3});
  arm(milliseconds{64});
  arm(milliseconds{63});
  arm(year);
  EXPECT_EQ(advance(2 * year), 6U);
  EXPECT_EQ(fired_, (fired{1, 4, 3, 0, 2, 5}));
}

TEST_F(timer_wheel_test, timers_of_one_tick_fire_in_the_order_of_arming) {
  arm(seconds{100});
  EXPECT_EQ(advance(seconds{50}), 0U);
  arm(seconds{100} - nanoseconds{1});
  EXPECT_EQ(advance(seconds{99}), 0U);
  arm(seconds{100});
  EXPECT_EQ(advance(seconds{100} - milliseconds{1}), 0U);
  arm(seconds{100} - microseconds{999});
  EXPECT_EQ(advance(seconds{100}), 4U);
  EXPECT_EQ(fired_, (fired{0, 1, 2, 3}));
}

TEST_F(timer_wheel_test, a_disarmed_timer_does_not_fire_and_can_be_armed_again) {
  probe& p = arm(seconds{1});
  wheel_.disarm(p);
  wheel_.disarm(p);
  EXPECT_FALSE(p.armed());
  EXPECT_EQ(wheel_.next_due(), time_point::max());
  EXPECT_EQ(advance(seconds{2}), 0U);
  wheel_.arm(p, start + seconds{3});
  EXPECT_EQ(advance(seconds{3}), 1U);
}

TEST_F(timer_wheel_test, the_limit_leaves_the_rest_due) {
  for (int i = 0; i < 5; ++i) arm(milliseconds{10});
  arm(milliseconds{5'000});
  EXPECT_EQ(advance(seconds{6}, 2), 2U);
  EXPECT_LE(wheel_.next_due(), start + seconds{6});
  EXPECT_EQ(advance(seconds{6}, 2), 2U);
  EXPECT_EQ(advance(seconds{6}, 2), 2U);
  EXPECT_EQ(fired_, (fired{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(advance(seconds{6}, 2), 0U);
}

TEST_F(timer_wheel_test, a_callback_may_arm_its_timer_again) {
  probe& p = arm(milliseconds{10});
  p.rearm_in = &wheel_;
  p.rearm_at = start + milliseconds{25};
  EXPECT_EQ(advance(milliseconds{20}), 1U);
  EXPECT_EQ(advance(milliseconds{24}), 0U);
  p.rearm_in = nullptr;
  EXPECT_EQ(advance(milliseconds{25}), 1U);
}

TEST_F(timer_wheel_test, a_timer_armed_in_the_past_by_its_callback_is_bounded_by_the_limit) {
  probe& p = arm(milliseconds{10});
  p.rearm_in = &wheel_;
  p.rearm_at = start;
  EXPECT_EQ(advance(milliseconds{20}, 7), 7U);
}

TEST_F(timer_wheel_test, a_callback_may_disarm_another_timer_that_is_due) {
  probe& first = arm(milliseconds{10});
  probe& second = arm(milliseconds{10});
  first.rearm_by = &wheel_;
  first.disarms = &second;
  EXPECT_EQ(advance(milliseconds{10}), 1U);
  EXPECT_EQ(fired_, (fired{0}));
}

TEST_F(timer_wheel_test, every_slot_edge_of_every_level_is_exact) {
  for (unsigned level = 0; level < 6; ++level)
    for (const std::uint64_t slot : {1U, 2U, 31U, 62U, 63U})
      for (const std::int64_t off : {-1, 0, 1}) {
        SCOPED_TRACE(::testing::Message()
                     << "level " << level << " slot " << slot << " off " << off);
        const auto ticks = static_cast<std::int64_t>(slot << (6 * level)) + off;
        const time_point when = start + milliseconds{ticks};
        timer_wheel wheel{start};
        std::vector<int> seen;
        probe p{0, seen};
        wheel.arm(p, when);
        // As a loop does: sleep until the next due time, and look.
        int steps = 0;
        while (p.armed() && ++steps < 20) {
          const time_point next = wheel.next_due();
          ASSERT_LE(next, when);
          const unsigned count = wheel.advance(next, all_of_them);
          ASSERT_EQ(count, next == when ? 1U : 0U);
        }
        ASSERT_EQ(seen.size(), 1U);
      }
}

TEST_F(timer_wheel_test, beyond_the_reach_of_the_wheel_is_no_earlier) {
  EXPECT_EQ(advance(milliseconds{1}), 0U);
  arm(10 * year);
  arm(100 * year);
  for (int years = 1; years < 10; ++years) EXPECT_EQ(advance(years * year), 0U) << years;
  EXPECT_EQ(advance(10 * year - milliseconds{1}), 0U);
  EXPECT_EQ(advance(10 * year), 1U);
  EXPECT_EQ(advance(100 * year - milliseconds{1}), 0U);
  EXPECT_EQ(advance(100 * year), 1U);
}

TEST_F(timer_wheel_test, the_end_of_time_can_be_waited_for) {
  EXPECT_EQ(advance(milliseconds{1}), 0U);
  probe& never = make();
  wheel_.arm(never, time_point::max());
  EXPECT_EQ(advance(200 * year), 0U);
  int steps = 0;
  while (wheel_.next_due() != time_point::max() && ++steps < 200)
    EXPECT_EQ(wheel_.advance(wheel_.next_due(), all_of_them), 0U);
  EXPECT_LT(steps, 200);
}

TEST_F(timer_wheel_test, who_is_armed_exactly_fires_at_its_nanosecond) {
  probe& late = make();
  probe& early = make();
  probe& same = make();
  arm(milliseconds{1});
  wheel_.arm_exactly(late, start + nanoseconds{1'000'000});
  wheel_.arm_exactly(early, start + nanoseconds{300'017});
  wheel_.arm_exactly(same, start + nanoseconds{1'000'000});
  EXPECT_EQ(wheel_.next_due(), start + nanoseconds{300'017});
  EXPECT_EQ(advance(nanoseconds{300'016}), 0U);
  EXPECT_EQ(advance(nanoseconds{300'017}), 1U);
  EXPECT_EQ(wheel_.next_due(), start + milliseconds{1});
  EXPECT_EQ(advance(milliseconds{1}), 3U);
  EXPECT_EQ(fired_, (fired{1, 0, 2, 3})) << "in the order of arming, and before the tick's own";
}

TEST_F(timer_wheel_test, who_is_armed_exactly_can_be_disarmed_and_told_of) {
  probe& exact = make();
  wheel_.arm_exactly(exact, start + nanoseconds{5});
  time_point told;
  wheel_.for_each([&](const timer&, time_point due) { told = due; });
  EXPECT_EQ(told, start + nanoseconds{5});
  EXPECT_EQ(wheel_.armed_count(), 1U);
  wheel_.disarm(exact);
  EXPECT_EQ(wheel_.next_due(), time_point::max());
  EXPECT_EQ(advance(year), 0U);
}

/// The wheel as it should be: a sorted multimap, and one of those that are armed exactly.
class model {
 public:
  void arm(int number, time_point when) {
    const auto ahead = std::max(when - start, duration::zero());
    const milliseconds::rep ceiling = (ahead + milliseconds{1} - nanoseconds{1}) / milliseconds{1};
    const auto tick = std::max(ceiling, tick_);
    places_[number] = due_.emplace(tick, number);
  }
  void arm_exactly(int number, time_point when) {
    exact_places_[number] = exact_.emplace(std::max(when, start), number);
  }
  void disarm(int number) {
    take(due_, places_, number);
    take(exact_, exact_places_, number);
  }
  std::vector<int> advance(time_point now, unsigned limit) {
    const milliseconds::rep now_tick = (now - start) / milliseconds{1};
    std::vector<int> out;
    while (!exact_.empty() && exact_.begin()->first <= now) {
      if (out.size() == limit) return out;
      out.push_back(exact_.begin()->second);
      disarm(out.back());
    }
    while (!due_.empty() && due_.begin()->first <= now_tick) {
      tick_ = due_.begin()->first;
      if (out.size() == limit) return out;
      out.push_back(due_.begin()->second);
      disarm(out.back());
    }
    tick_ = std::max(tick_, now_tick);
    return out;
  }
  [[nodiscard]] time_point earliest() const {
    const time_point exact = exact_.empty() ? time_point::max() : exact_.begin()->first;
    return due_.empty() ? exact : std::min(exact, start + milliseconds{due_.begin()->first});
  }
  [[nodiscard]] std::size_t size() const { return due_.size() + exact_.size(); }

 private:
  template <class Queue>
  using places = std::map<int, typename Queue::iterator>;
  template <class Queue>
  static void take(Queue& from, places<Queue>& at, int number) {
    const auto place = at.find(number);
    if (place == at.end()) return;
    from.erase(place->second);
    at.erase(place);
  }

  using queue = std::multimap<milliseconds::rep, int>;
  using exact_queue = std::multimap<time_point, int>;
  milliseconds::rep tick_ = 0;
  queue due_;
  exact_queue exact_;
  places<queue> places_;
  places<exact_queue> exact_places_;
};

class timer_wheel_model_test : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(seeds, timer_wheel_model_test, ::testing::Range<std::uint64_t>(1, 21));

TEST_P(timer_wheel_model_test, behaves_as_sorted_multimaps) {
  random random{GetParam()};
  timer_wheel wheel{start};
  model expected;
  std::vector<int> seen;
  std::deque<probe> probes;
  for (int i = 0; i < 200; ++i) probes.emplace_back(i, seen);
  time_point now = start;

  // A length of any magnitude, from nanoseconds to eight years.
  const auto any_length = [&] {
    const auto magnitude = random.between<unsigned>(1, 58);
    return nanoseconds{static_cast<std::int64_t>(random.below(std::uint64_t{1} << magnitude))};
  };
  for (int step = 0; step < 5'000 && now < start + 200 * year; ++step) {
    probe& p = probes[random.below(probes.size())];
    if (random.chance(2, 3)) {
      wheel.disarm(p);
      expected.disarm(p.number);
    }
    if (!p.armed() && random.chance(3, 4)) {
      const time_point when = random.chance(1, 10) ? now - any_length() : now + any_length();
      if (random.chance(1, 4)) {
        wheel.arm_exactly(p, when);
        expected.arm_exactly(p.number, when);
      } else {
        wheel.arm(p, when);
        expected.arm(p.number, when);
      }
    }
    if (random.chance(1, 3)) {
      // Two times in three as a loop would, else after sleeping too long.
      const time_point due = wheel.next_due();
      if (random.chance(2, 3) && due != time_point::max())
        now = std::max(now, due);
      else
        now += any_length() / 64;
      const auto limit = random.chance(1, 4) ? random.between<unsigned>(0, 3) : all_of_them;
      seen.clear();
      const unsigned count = wheel.advance(now, limit);
      ASSERT_EQ(seen, expected.advance(now, limit)) << "step " << step;
      ASSERT_EQ(count, seen.size());
    }
    ASSERT_EQ(wheel.armed_count(), expected.size());
    ASSERT_LE(wheel.next_due(), std::max(expected.earliest(), now)) << "late, step " << step;
    ASSERT_EQ(wheel.next_due() == time_point::max(), expected.size() == 0);
  }
  for (probe& p : probes) wheel.disarm(p);
}

}  // namespace
}  // namespace weft
