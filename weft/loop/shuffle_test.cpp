#include <weft/loop/shuffle.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/failure_note.hpp>
#include <weft/coro/scope.hpp>
#include <weft/loop/loop_fixture_test.hpp>

namespace weft {
namespace {

constexpr int tasks = 40;

class shuffle_test : public on_any_backend {
 protected:
  /// The order in which a loop of this seed runs tasks that are spawned at once.
  std::vector<int> order_with(std::optional<std::uint64_t> seed, unsigned shard = 0) {
    loop_.reset();
    open({.backend = GetParam(), .shuffle_seed = seed, .shard = shard});
    std::vector<int> order;
    const auto note = [](std::vector<int>& into, int what) -> task<void> {
      into.push_back(what);
      co_return;
    };
    for (int i = 0; i < tasks; ++i) loop_->spawn(note(order, i));
    loop_->run();
    return order;
  }

  static std::vector<int> first_in_first_out() {
    std::vector<int> order;
    for (int i = 0; i < tasks; ++i) order.push_back(i);
    return order;
  }
};
INSTANTIATE_TEST_SUITE_P(backends, shuffle_test, every_backend, backend_name);

TEST_P(shuffle_test, a_seed_decides_the_order_of_what_is_ready) {
  const auto order = order_with(1);
  EXPECT_EQ(order.size(), std::size_t{tasks});
  EXPECT_EQ(order_with(1), order);
  EXPECT_NE(order_with(2), order);
  EXPECT_NE(order, first_in_first_out());
}

TEST_P(shuffle_test, no_seed_is_first_in_first_out) {
  EXPECT_EQ(order_with(0), first_in_first_out());
}

TEST_P(shuffle_test, a_yield_lets_all_have_their_turn_who_are_ready) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    loop_.reset();
    open({.backend = GetParam(), .shuffle_seed = seed});
    int ran = 0;
    for (int i = 0; i < tasks; ++i)
      loop_->spawn([](event_loop& loop, int& count) -> task<void> {
        scope more{loop.root()};
        int theirs = 0;
        for (int child = 0; child < 3; ++child)
          more.spawn([](int& into) -> task<void> {
            ++into;
            co_return;
          }(theirs));
        co_await yield{loop};
        EXPECT_EQ(theirs, 3);
        ++count;
        co_await more.join();
      }(*loop_, ran));
    loop_->run();
    EXPECT_EQ(ran, tasks);
  }
}

TEST_P(shuffle_test, shards_of_one_seed_have_orders_of_their_own) {
  EXPECT_NE(order_with(1, 0), order_with(1, 1));
}

// In a process of its own, which nobody has told a seed yet.
TEST(shuffle_seed_death_test, is_drawn_in_debug_builds_unless_it_is_told) {
#ifdef NDEBUG
  constexpr bool is_drawn = false;
#else
  constexpr bool is_drawn = true;
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::unsetenv("WEFT_SHUFFLE");
        std::_Exit(default_shuffle_seed() != 0 ? 1 : 0);
      },
      ::testing::ExitedWithCode(is_drawn ? 1 : 0), "");
}

TEST(shuffle_seed, is_told_of_with_every_failure) {
  if (default_shuffle_seed() == 0) GTEST_SKIP() << "nothing is drawn";
  ASSERT_NE(failure_note(), nullptr);
  EXPECT_NE(std::string_view{failure_note()}.find(
                "WEFT_SHUFFLE=" + std::to_string(default_shuffle_seed()) + ","),
            std::string_view::npos);
}

TEST(shuffle_seed, is_read_from_text) {
  EXPECT_EQ(parse_shuffle_seed("0"), 0U);
  EXPECT_EQ(parse_shuffle_seed("17"), 17U);
  EXPECT_EQ(parse_shuffle_seed("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_shuffle_seed("0x1f"), 31U);
}

TEST(shuffle_seed, refuses_what_is_no_whole_number) {
  for (const auto* const text : {"", "x", "17x", "-1", " 1", "1.5", "0x", "18446744073709551616"})
    EXPECT_EQ(parse_shuffle_seed(text), std::nullopt) << text;
}

}  // namespace
}  // namespace weft
