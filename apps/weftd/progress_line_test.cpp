#include <apps/weftd/progress_line.hpp>

#include <gtest/gtest.h>

namespace weftd {
namespace {

using std::chrono::seconds;

TEST(progress_line, groups_digits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

TEST(progress_line, says_how_much_is_left) {
  EXPECT_EQ(progress_text({.count = 2000, .done = 50, .all = 200}, "rows", seconds{10}),
            "[######..................] 25 %  2,000 rows  200/s  30 s left");
  EXPECT_EQ(progress_text({.count = 5, .done = 7, .all = 7}, "rows", seconds{5}),
            "[########################] 100 %  5 rows  1/s  0 s left");
  EXPECT_EQ(progress_text({.count = 0, .done = 0, .all = 9}, "rows", seconds{0}),
            "[........................] 0 %  0 rows  0/s");
  EXPECT_EQ(progress_text({.count = 12000}, "rows", seconds{2}), "12,000 rows  6,000/s");
}

}  // namespace
}  // namespace weftd
