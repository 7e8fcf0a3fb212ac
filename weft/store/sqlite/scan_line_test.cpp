#include <weft/store/sqlite/scan_line.hpp>

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weft::store::sqlite {
namespace {

TEST(scan_line, lets_in_those_that_run_and_those_that_may_wait) {
  scan_line line{2, 1};
  std::vector<scan_line::place> scans;
  for (int i = 0; i < 3; ++i) {
    auto place = line.enter();
    ASSERT_TRUE(place);
    scans.push_back(std::move(*place));
  }
  const auto refused = line.enter();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), errc::limit_exceeded);
}

TEST(scan_line, gives_a_place_to_the_next_once_a_scan_is_over) {
  scan_line line{1, 0};
  for (int i = 0; i < 3; ++i) {
    const auto place = line.enter();
    EXPECT_TRUE(place);
    EXPECT_FALSE(line.enter());
  }
}

}  // namespace
}  // namespace weft::store::sqlite
