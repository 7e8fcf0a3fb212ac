#include <weft/base/result.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>

namespace {

using weft::errc;
using weft::error;
using weft::fail;
using weft::result;

static_assert(std::is_same_v<result<>, std::expected<void, error>>);
static_assert(std::is_trivially_copy_constructible_v<result<int>>);
static_assert(std::is_trivially_destructible_v<result<int>>);
static_assert(sizeof(result<int>) <= 12);

constexpr result<int> exact_half(int number) {
  if (number % 2 != 0) return fail(errc::invalid_argument);
  return number / 2;
}
static_assert(exact_half(4) == 2);
static_assert(exact_half(3).error() == errc::invalid_argument);

TEST(result, fail_converts_to_any_result) {
  const result<> nothing = fail(errc::closed);
  const result<std::unique_ptr<int>> pointer = fail({errc::reset, 104});
  ASSERT_FALSE(nothing.has_value());
  EXPECT_EQ(nothing.error(), errc::closed);
  ASSERT_FALSE(pointer.has_value());
  EXPECT_EQ(pointer.error(), error(errc::reset, 104));
}

TEST(result, an_error_passes_on_to_a_result_of_another_type) {
  const auto outer = [](int number) -> result<std::unique_ptr<int>> {
    const auto inner = exact_half(number);
    if (!inner) return fail(inner.error());
    return std::make_unique<int>(*inner);
  };
  EXPECT_EQ(outer(5).error(), errc::invalid_argument);
  EXPECT_EQ(**outer(6), 3);
}

}  // namespace
