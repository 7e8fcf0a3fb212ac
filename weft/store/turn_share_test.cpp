#include <weft/store/turn_share.hpp>

#include <gtest/gtest.h>

namespace weft::store {
namespace {

TEST(turn_share, is_used_up_by_so_many_bytes) {
  turn_share share;
  EXPECT_FALSE(share.is_used_up(100));
  EXPECT_FALSE(share.is_used_up(turn_share::turn_bytes - 1));
  EXPECT_TRUE(share.is_used_up(turn_share::turn_bytes));
  EXPECT_FALSE(share.is_used_up(turn_share::turn_bytes + 1)) << "the next has begun";
  EXPECT_TRUE(share.is_used_up(turn_share::turn_bytes + 500'000)) << "by one row";
}

TEST(turn_share, begins_anew_with_a_text_that_is_made_anew) {
  turn_share share;
  EXPECT_TRUE(share.is_used_up(500'000));
  EXPECT_TRUE(share.is_used_up(100));
  EXPECT_FALSE(share.is_used_up(200));
}

}  // namespace
}  // namespace weft::store
