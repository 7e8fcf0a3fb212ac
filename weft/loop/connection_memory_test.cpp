#include <weft/loop/connection_memory.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include <weft/coro/with_deadline.hpp>
#include <weft/loop/loop_fixture_test.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t mib = std::size_t{1} << 20U;
constexpr std::size_t limit_bytes = 64 * mib;
constexpr std::size_t most = limit_bytes / 2;

/// A connection, which is told to leave and then gives back what it held, later or at once.
struct peer : slow_peer {
  peer(connection_memory& in, std::string& order, char its_name, memory_reservation its_memory)
      : all{in}, left{order}, name{its_name}, memory{std::move(its_memory)} {}
  ~peer() { leave_line(); }
  void leave_line() {
    if (std::exchange(has_begun, false)) all.note_finished(*this);
    if (std::exchange(is_silent, false)) all.note_talks(*this, memory.bytes());
  }
  void begin() {
    leave_line();
    has_begun = true;
    all.note_unfinished(*this, kind);
  }
  void be_silent() {
    leave_line();
    is_silent = true;
    all.note_silent(*this, kind, memory.bytes());
  }

  static std::size_t held_bytes(slow_peer& self) noexcept {
    const auto& who = static_cast<peer&>(self);
    return who.is_worked_for ? 0 : who.memory.bytes();
  }
  static void drop(slow_peer& self) noexcept {
    auto& who = static_cast<peer&>(self);
    who.has_begun = who.is_silent = false;
    who.left += who.name;
  }
  static constexpr slow_peer_kind kind{.held_bytes = &held_bytes, .drop = &drop};

  connection_memory& all;
  std::string& left;
  char name;
  memory_reservation memory;
  bool has_begun = false;
  bool is_silent = false;
  bool is_worked_for = false;
};

class connection_memory_test : public loop_fixture {
 protected:
  void SetUp() override { open({.backend = backend_kind::simulated, .memory = &budget_}); }
  void TearDown() override {
    peers_.clear();
    loop_fixture::TearDown();
  }

  [[nodiscard]] connection_memory& all() { return loop_->memory().connections(); }
  peer& newcomer(char name, std::size_t size_bytes) {
    return peers_.emplace_back(all(), left_, name, all().admit(size_bytes));
  }
  void pass(duration length) {
    loop_->spawn([](event_loop& on, duration how_long) -> task<void> {
      static_cast<void>(co_await sleep_for(on, how_long));
    }(*loop_, length));
    const time_point until = loop_->now() + length;
    while (loop_->now() < until) loop_->run_once(until);
    settle();
  }

  memory_budget budget_{limit_bytes};
  std::deque<peer> peers_;
  std::string left_;  // the names of those who were told to
};

TEST_F(connection_memory_test, refuses_who_comes_beyond_half_of_the_budget) {
  EXPECT_EQ(all().most_bytes(), most);
  peer& first = newcomer('a', most);
  EXPECT_EQ(first.memory.bytes(), most);
  EXPECT_FALSE(newcomer('b', 1).memory);
  EXPECT_FALSE(all().admit(first.memory, 1));
  EXPECT_EQ(loop_->memory().gauges().refused, 2U);
  EXPECT_EQ(loop_->memory().in_use(memory_kind::connections), most);
  first.memory.shrink(most - 10);
  EXPECT_TRUE(all().admit(first.memory, 10));
  EXPECT_EQ(left_, "");
}

TEST_F(connection_memory_test, shares_half_of_the_budget_among_the_shards) {
  struct : memory_budget::member {
    void ask_for_relief(std::size_t /*target_bytes*/) noexcept override {}
    [[nodiscard]] std::size_t permanent_bytes() const noexcept override { return 0; }
  } other;
  budget_.join(other);
  EXPECT_EQ(all().most_bytes(), most / 2);
  budget_.leave(other);
  EXPECT_EQ(all().most_bytes(), most);
}

TEST_F(connection_memory_test, above_a_quarter_those_leave_who_have_begun_longest_ago) {
  newcomer('s', 8 * mib).be_silent();
  newcomer('a', 4 * mib).begin();
  newcomer('b', 4 * mib).begin();
  pass(1s);
  newcomer('c', 1 * mib).begin();
  EXPECT_EQ(left_, "a") << "which makes room enough";
  pass(100ms);
  newcomer('d', 1 * mib);
  EXPECT_EQ(left_, "ab") << "a holds its memory still";
}

TEST_F(connection_memory_test, while_the_silent_hold_more_than_their_part_they_leave) {
  newcomer('w', 4 * mib).be_silent();
  peers_.back().is_worked_for = true;
  newcomer('a', 6 * mib).be_silent();
  peer& talks = newcomer('b', 4 * mib);
  talks.be_silent();
  newcomer('c', 4 * mib).be_silent();
  pass(400ms);
  talks.be_silent();
  pass(400ms);
  newcomer('n', 1 * mib);
  EXPECT_EQ(left_, "a") << "w is worked for, and b has talked";
}

TEST_F(connection_memory_test, the_silent_stay_while_others_begin) {
  newcomer('s', 8 * mib).be_silent();
  pass(1s);
  newcomer('a', 16 * mib).begin();
  EXPECT_TRUE(newcomer('b', 8 * mib).memory);
  EXPECT_FALSE(newcomer('c', 1).memory);
  EXPECT_EQ(left_, "");
}

TEST_F(connection_memory_test, nobody_leaves_who_has_waited_for_a_moment) {
  newcomer('a', 16 * mib).begin();
  newcomer('b', 8 * mib).be_silent();
  pass(400ms);
  newcomer('c', 8 * mib);
  EXPECT_EQ(left_, "");
  EXPECT_FALSE(newcomer('d', 1).memory);
}

TEST_F(connection_memory_test, what_is_in_memory_already_makes_the_unfinished_leave) {
  newcomer('s', 16 * mib).be_silent();
  newcomer('a', 8 * mib).begin();
  peer& grows = newcomer('b', 8 * mib);
  all().grow(grows.memory, 1 * mib);
  EXPECT_EQ(left_, "a");
  EXPECT_EQ(grows.memory.bytes(), 9 * mib);
}

TEST_F(connection_memory_test, others_who_need_memory_get_that_of_the_unfinished) {
  newcomer('s', 4 * mib).be_silent();
  newcomer('a', 8 * mib).begin();
  pass(1s);
  const auto bodies = loop_->memory().hold(memory_kind::bodies, 20 * mib);
  loop_->spawn([](memory_share& from) -> task<void> {
    static_cast<void>(co_await with_timeout(
        1s, reserve_memory(from, memory_kind::bodies, 4 * mib, memory_priority::low)));
  }(loop_->memory()));
  pass(2s);
  EXPECT_EQ(left_, "a") << "the silent hold less than their part";
}

TEST_F(connection_memory_test, allocates_nothing) {
  peer& first = newcomer('a', mib);
  const testing::allocation_counter counter;
  for (int i = 0; i < 100; ++i) {
    first.be_silent();
    first.begin();
    first.leave_line();
    EXPECT_TRUE(all().admit(first.memory, 100));
    first.memory.shrink(mib);
  }
  EXPECT_EQ(counter.allocations(), 0U);
}

}  // namespace
}  // namespace weft
