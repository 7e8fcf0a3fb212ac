#include <weft/base/failure_note.hpp>

#include <gtest/gtest.h>

#include <weft/base/assert.hpp>

namespace {

TEST(failure_note, is_none_until_there_is_one) {
  EXPECT_EQ(weft::failure_note(), nullptr);
  weft::set_failure_note("again with: SEED=1");
  EXPECT_STREQ(weft::failure_note(), "again with: SEED=1");
  weft::set_failure_note(nullptr);
  EXPECT_EQ(weft::failure_note(), nullptr);
}

TEST(failure_note, follows_what_an_assertion_says) {
  weft::set_failure_note("again with: SEED=1");
  EXPECT_DEATH(WEFT_ASSERT(1 + 1 == 3, "check the sum"), "check the sum\nagain with: SEED=1\n$");
  weft::set_failure_note(nullptr);
}

}  // namespace
