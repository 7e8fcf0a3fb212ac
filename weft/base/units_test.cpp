#include <weft/base/units.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace {

using namespace weft::literals;

static_assert(std::is_same_v<decltype(1_KiB), std::size_t>);

TEST(units, are_powers_of_1024) {
  EXPECT_EQ(0_KiB, 0U);
  EXPECT_EQ(4_KiB, 4096U);
  EXPECT_EQ(1_MiB, 1024_KiB);
  EXPECT_EQ(3_GiB, 3072_MiB);
}

TEST(units, reach_to_the_end_of_size_t) {
  EXPECT_EQ(17179869183_GiB, 17179869183ULL * 1024 * 1024 * 1024);
}

}  // namespace
