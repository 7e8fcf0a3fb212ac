#include <weft/loop/piece_watch.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace weft {
namespace {

using std::chrono::milliseconds;

/// A time of these tests.
constexpr time_point at(int millisecond) { return time_point{} + milliseconds{millisecond}; }

TEST(piece_watch, a_piece_counts_from_when_something_was_due) {
  piece_watch watch;
  watch.skip(at(0));
  watch.begin(at(10));
  watch.end(at(8), at(10), piece_kind::mail);
  watch.begin(at(10));
  EXPECT_EQ(watch.count_since(at(0)), 0U);
  watch.end(at(12), at(10), piece_kind::io);
  EXPECT_EQ(watch.count_since(at(0)), 1U);
  EXPECT_EQ(watch.longest_since(at(0)).lasted, milliseconds{2});
  EXPECT_EQ(watch.longest_since(at(0)).ended, at(12));
}

TEST(piece_watch, the_longest_is_kept_while_something_is_due) {
  piece_watch watch;
  watch.skip(at(0));
  watch.begin(at(1));
  for (const int end : {3, 9, 10}) {
    watch.end(at(end), at(1), end == 9 ? piece_kind::timers : piece_kind::callback);
    watch.begin(at(1));
  }
  EXPECT_EQ(watch.count_since(at(0)), 3U);
  EXPECT_EQ(watch.longest_since(at(0)).kind, piece_kind::timers);
  EXPECT_EQ(watch.longest_since(at(0)).lasted, milliseconds{6});
}

TEST(piece_watch, is_forgotten_when_nothing_is_due_any_more_unless_it_is_held) {
  piece_watch watch;
  watch.skip(at(0));
  watch.end(at(5), at(1), piece_kind::mail);
  watch.hold(true);
  watch.begin(at(100));
  EXPECT_EQ(watch.count_since(at(0)), 1U);
  watch.hold(false);
  watch.begin(at(100));
  EXPECT_EQ(watch.count_since(at(0)), 0U);
  EXPECT_EQ(watch.longest_since(at(0)).lasted, duration::zero());
}

TEST(piece_watch, what_falls_due_in_a_piece_by_being_armed_late_counts) {
  piece_watch watch;
  watch.skip(at(0));
  watch.begin(time_point::max());
  watch.end(at(7), at(4), piece_kind::callback);
  EXPECT_EQ(watch.longest_since(at(0)).lasted, milliseconds{3});
}

TEST(piece_watch, what_is_due_counts_before_it_is_armed) {
  piece_watch watch;
  watch.skip(at(0));
  watch.expect(at(9));
  watch.expect(at(3));
  watch.begin(time_point::max());
  watch.end(at(5), time_point::max(), piece_kind::callback);
  watch.begin(time_point::max());
  EXPECT_EQ(watch.longest_since(at(0)).lasted, milliseconds{2})
      << "since the first of them was due";
  watch.expect_nothing();
  watch.begin(time_point::max());
  EXPECT_EQ(watch.count_since(at(0)), 0U);
}

TEST(piece_watch, time_that_is_skipped_is_no_piece) {
  piece_watch watch;
  watch.skip(at(0));
  watch.begin(at(1));
  watch.skip(at(50));
  watch.end(at(51), at(1), piece_kind::mail);
  EXPECT_EQ(watch.longest_since(at(0)).lasted, milliseconds{1});
}

TEST(piece_watch, whoever_was_due_later_hears_of_what_ended_since) {
  piece_watch watch;
  watch.skip(at(0));
  watch.begin(at(1));
  watch.end(at(10), at(1), piece_kind::mail);
  watch.end(at(16), at(1), piece_kind::io);
  watch.end(at(18), at(1), piece_kind::timers);
  EXPECT_EQ(watch.longest_since(at(1)).kind, piece_kind::mail);
  EXPECT_EQ(watch.longest_since(at(9)).kind, piece_kind::io) << "of the first one ms is left";
  EXPECT_EQ(watch.longest_since(at(9)).lasted, milliseconds{6});
  EXPECT_EQ(watch.longest_since(at(12)).lasted, milliseconds{4});
  EXPECT_EQ(watch.longest_since(at(15)).kind, piece_kind::timers);
  EXPECT_EQ(watch.longest_since(at(18)).lasted, duration::zero());
  EXPECT_EQ(watch.count_since(at(9)), 3U);
  EXPECT_EQ(watch.count_since(at(12)), 2U);
  EXPECT_EQ(watch.count_since(at(18)), 0U);
}

TEST(piece_watch, of_more_that_grow_shorter_than_are_kept_the_first_and_the_last_are) {
  piece_watch watch;
  watch.skip(at(0));
  watch.begin(at(0));
  int now = 0;
  for (int length = 20; length > 0; --length)
    watch.end(at(now += length), at(0), length == 1 ? piece_kind::io : piece_kind::callback);
  EXPECT_EQ(watch.longest_since(at(0)).lasted, milliseconds{20});
  EXPECT_EQ(watch.longest_since(at(20)).lasted, milliseconds{19});
  EXPECT_EQ(watch.longest_since(at(now - 1)).kind, piece_kind::io);
  EXPECT_EQ(watch.count_since(at(0)), 20U);
  EXPECT_EQ(watch.count_since(at(20)), 19U);
}

TEST(piece_watch, a_piece_is_described_by_what_ran) {
  EXPECT_EQ(describe(loop_piece{.kind = piece_kind::mail}), "mail of other shards");
  EXPECT_EQ(describe(loop_piece{.kind = piece_kind::timers}), "timers of the loop");
  EXPECT_EQ(describe(loop_piece{.kind = piece_kind::io}), "I/O of the loop");
  EXPECT_EQ(describe(loop_piece{.kind = piece_kind::callback}), "a callback of the loop");
  EXPECT_TRUE(
      describe(loop_piece{.kind = piece_kind::task, .resumed_at = std::source_location::current()})
          .contains("piece_watch_test.cpp"));
}

}  // namespace
}  // namespace weft
