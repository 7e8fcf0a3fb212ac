#include <weft/http/http_date.hpp>

#include <gtest/gtest.h>

#include <string_view>

#include <weft/http/date.hpp>

namespace weft::http {
namespace {

constexpr std::int64_t now = 1'800'000'000;  // 2027

TEST(http_date, has_three_forms) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", now), 784111777);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", now), 784111777);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994", now), 784111777);
  EXPECT_EQ(parse_http_date("Wed Nov 16 08:49:37 1994", now), 784111777 + 10 * 86400);
  EXPECT_EQ(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT", now), 0);
  EXPECT_EQ(parse_http_date("Wed, 31 Dec 1969 23:59:59 GMT", now), -1);
  EXPECT_EQ(parse_http_date("Tue, 29 Feb 2000 00:00:00 GMT", now), 951782400);
  EXPECT_EQ(parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT", now), 1483228799);
}

TEST(http_date, a_year_of_two_digits_is_at_most_50_years_ahead) {
  EXPECT_EQ(parse_http_date("Friday, 01-Jan-77 00:00:00 GMT", now),
            parse_http_date("Fri, 01 Jan 2077 00:00:00 GMT", now));
  EXPECT_EQ(parse_http_date("Sunday, 01-Jan-78 00:00:00 GMT", now),
            parse_http_date("Sun, 01 Jan 1978 00:00:00 GMT", now));
}

TEST(http_date, is_read_as_it_is_written) {
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{951782400}, now, std::int64_t{1}}) {
    const auto text = format_date(at);
    EXPECT_EQ(parse_http_date({text.data(), text.size()}, now), at);
  }
}

TEST(http_date, is_nothing_else) {
  for (std::string_view bad : {"",
                               "Sun",
                               "Sun,",
                               "0",
                               "Sun, 6 Nov 1994 08:49:37 GMT",
                               "Sun, 06 Nov 94 08:49:37 GMT",
                               "sun, 06 Nov 1994 08:49:37 GMT",
                               "Sun, 06 nov 1994 08:49:37 GMT",
                               "Sun, 06 Nov 1994 08:49:37 gmt",
                               "Sun, 06 Nov 1994 08:49:37 UTC",
                               "Sun, 06 Nov 1994 08:49:37 +0000",
                               "Sun, 06 Nov 1994 08:49:37",
                               "Sun, 06 Nov 1994 08:49 GMT",
                               "Sun, 06 Nov 1994 08:49:37 GMT ",
                               " Sun, 06 Nov 1994 08:49:37 GMT",
                               "Sun,  6 Nov 1994 08:49:37 GMT",
                               "Sun, 31 Feb 1994 08:49:37 GMT",
                               "Sun, 00 Nov 1994 08:49:37 GMT",
                               "Tue, 29 Feb 2100 00:00:00 GMT",
                               "Sun, 06 Nov 1994 24:00:00 GMT",
                               "Sun, 06 Nov 1994 08:60:00 GMT",
                               "Sun, 06 Nov 1994 08:49:61 GMT",
                               "Sun, 06 Nov +994 08:49:37 GMT",
                               "Son, 06 Nov 1994 08:49:37 GMT",
                               "Sun, 06-Nov-94 08:49:37 GMT",
                               "Sunday, 06 Nov 1994 08:49:37 GMT",
                               "Sunday, 06-Nov-1994 08:49:37 GMT",
                               "Sun Nov 6 08:49:37 1994",
                               "Sun Nov 06 08:49:37 94",
                               "Sun Nov  6 08:49:37 1994 GMT"})
    EXPECT_EQ(parse_http_date(bad, now), std::nullopt) << bad;
}

}  // namespace
}  // namespace weft::http
