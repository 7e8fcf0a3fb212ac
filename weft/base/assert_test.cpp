#include <weft/base/assert.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(assert, passes_when_the_condition_holds_and_evaluates_it_once) {
  int evaluations = 0;
  WEFT_ASSERT(++evaluations == 1, "evaluated once");
  EXPECT_EQ(evaluations, 1);
}

TEST(assert, names_place_condition_and_message) {
  EXPECT_DEATH(WEFT_ASSERT(1 + 1 == 3, "check the sum"),
               "assert_test\\.cpp:[0-9]+: assertion failed: 1 \\+ 1 == 3: check the sum\n");
}

TEST(assert, prints_the_line_number_in_full) {
  EXPECT_DEATH(weft::detail::assertion_failed("file.cpp", 2050, "a", "b"),
               "^file\\.cpp:2050: assertion failed: a: b\n$");
}

TEST(assert, cuts_a_message_that_is_too_long) {
  const std::string long_message(5000, 'x');
  EXPECT_DEATH(weft::detail::assertion_failed("file.cpp", 1, "a", long_message.c_str()), "a: xxx");
}

TEST(assert, is_one_expression) {
  const bool choose = true;
  if (choose)
    WEFT_ASSERT(choose, "does not swallow the else");
  else
    FAIL();
}

TEST(assert, debug_assert_is_checked_in_debug_builds_only) {
  int evaluations = 0;
#ifdef NDEBUG
  WEFT_DEBUG_ASSERT(++evaluations == 100, "not evaluated");
  EXPECT_EQ(evaluations, 0);
#else
  WEFT_DEBUG_ASSERT(++evaluations == 1, "evaluated");
  EXPECT_EQ(evaluations, 1);
  EXPECT_DEATH(WEFT_DEBUG_ASSERT(false, "debug build"), "assertion failed: false: debug build");
#endif
}

constexpr int half(int even) {
  WEFT_ASSERT(even % 2 == 0, "halve even numbers only");
  return even / 2;
}
static_assert(half(4) == 2);  // usable in constant expressions

}  // namespace
