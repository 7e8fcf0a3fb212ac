#include <weft/coro/generator.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft {
namespace {

static_assert(std::ranges::input_range<generator<int>>);
static_assert(!std::is_copy_constructible_v<generator<int>>);

class generator_test : public ::testing::Test {
 protected:
  ~generator_test() override { EXPECT_EQ(frame_pool::live_frames(), frames_before_); }

  static generator<int> up_to(int limit) {
    for (int i = 0; i < limit; ++i) co_yield i;
  }

  std::size_t frames_before_ = frame_pool::live_frames();
};

TEST_F(generator_test, gives_the_items_in_order) {
  std::vector<int> seen;
  for (const int number : up_to(4)) seen.push_back(number);
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 3}));
}

TEST_F(generator_test, of_nothing_is_empty) {
  for (const int number : up_to(0)) ADD_FAILURE() << number;
}

TEST_F(generator_test, runs_only_when_asked_and_may_have_no_end) {
  int made = 0;
  const auto endless = [](int& count) -> generator<int> {
    while (true) co_yield ++count;
  };
  auto numbers = endless(made);
  EXPECT_EQ(made, 0);
  for (const int number : numbers) {
    EXPECT_EQ(number, made);
    if (number == 3) break;
  }
  EXPECT_EQ(made, 3);
}

TEST_F(generator_test, works_with_views) {
  std::vector<int> seen;
  for (const int square :
       up_to(100) | std::views::transform([](int i) { return i * i; }) | std::views::take(3))
    seen.push_back(square);
  EXPECT_EQ(seen, (std::vector{0, 1, 4}));
}

TEST_F(generator_test, the_consumer_may_change_an_item_or_take_it) {
  const auto boxes = [](std::unique_ptr<int>& last) -> generator<std::unique_ptr<int>> {
    co_yield std::make_unique<int>(1);
    co_yield last;
  };
  auto last = std::make_unique<int>(2);
  std::vector<std::unique_ptr<int>> taken;
  for (auto& box : boxes(last)) taken.push_back(std::move(box));
  EXPECT_EQ(*taken[0], 1);
  EXPECT_EQ(*taken[1], 2);
  EXPECT_EQ(last, nullptr);
}

TEST_F(generator_test, gives_what_is_constant_without_copying_it) {
  const auto words = [](const std::string& word) -> generator<const std::string> {
    co_yield word;
    co_yield "converted";
  };
  const std::string own = "own";
  auto sequence = words(own);
  auto at = sequence.begin();
  EXPECT_EQ(&*at, &own);
  ++at;
  EXPECT_EQ(at->size(), 9U);
}

TEST_F(generator_test, an_exception_reaches_who_asks) {
  const auto failing = []() -> generator<int> {
    co_yield 1;
    throw std::runtime_error{"inner"};
  };
  auto numbers = failing();
  auto at = numbers.begin();
  EXPECT_EQ(*at, 1);
  EXPECT_THROW(++at, std::runtime_error);
  EXPECT_EQ(at, numbers.end());
}

TEST_F(generator_test, what_the_body_holds_ends_with_it) {
  const auto alive = std::make_shared<int>(1);
  const auto holding = [](std::shared_ptr<int> held) -> generator<int> {
    const auto local = held;
    co_yield *local;
    co_yield *held;
  };
  {
    auto numbers = holding(alive);
    EXPECT_EQ(*numbers.begin(), 1);
    EXPECT_EQ(alive.use_count(), 3);
    auto moved = std::move(numbers);
    EXPECT_EQ(alive.use_count(), 3);
    moved = up_to(1);
    EXPECT_EQ(alive.use_count(), 1);
  }
}

}  // namespace
}  // namespace weft
