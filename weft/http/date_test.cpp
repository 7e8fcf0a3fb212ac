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
  const std::string first{dates.at(start).date_line()};
  EXPECT_EQ(first.size(), std::string_view{"Date: \r\n"}.size() + date_size_bytes);
  EXPECT_TRUE(first.ends_with(" GMT\r\n"));
  EXPECT_EQ(dates.at(start + 1ns).date_line(), first);
  // The wall clock goes on by itself, so only this can be told: the text is some second's, and the
  // loop's time decides when it is looked up.
  const auto before = std::chrono::system_clock::now();
  const std::string later{dates.at(start + 1s).date_line()};
  const auto after = std::chrono::system_clock::now();
  const auto seconds = [](auto when) {
    return std::chrono::floor<std::chrono::seconds>(when.time_since_epoch()).count();
  };
  const auto line = [&](auto when) { return "Date: " + text(seconds(when)) + "\r\n"; };
  EXPECT_TRUE(later == line(before) || later == line(after)) << later;
  EXPECT_EQ(std::string(dates.at(start + 1s).data(), reply_start::size_bytes),
            "HTTP/1.1 200 OK\r\n" + later);
}

}  // namespace
}  // namespace weft::http
