#include <weft/http/date.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace weft::http {
namespace {

std::string text(std::int64_t unix_seconds) {
  const auto date = format_date(unix_seconds);
  return {date.data(), date.size()};
}

TEST(date, is_imf_fixdate) {
  EXPECT_EQ(text(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(text(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(text(951782400), "Tue, 29 Feb 2000 00:00:00 GMT");
  EXPECT_EQ(text(4102444799), "Thu, 31 Dec 2099 23:59:59 GMT");
  EXPECT_EQ(text(-1), "Wed, 31 Dec 1969 23:59:59 GMT");
}

TEST(date, stays_within_four_digits_of_year) {
  EXPECT_EQ(text(INT64_MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(text(INT64_MIN), "Sat, 01 Jan 0000 00:00:00 GMT");
}

TEST(date_cache, keeps_its_text_within_a_second_and_renews_it_after_one) {
  using namespace std::chrono_literals;
  date_cache dates;
  const time_point start{1h};
  duration wall = 784111777s + 250ms;
  const auto clock = [&] { return wall; };
  const std::string first{dates.at(start, clock).date_line()};
  EXPECT_EQ(first, "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  wall += 1h;
  EXPECT_EQ(dates.at(start + 749ms, clock).date_line(), first) << "within the second";
  EXPECT_EQ(std::string(dates.at(start + 750ms, clock).data(), reply_start::size_bytes),
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 09:49:37 GMT\r\n");
}

}  // namespace
}  // namespace weft::http
