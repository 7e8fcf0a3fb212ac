#include <weft/http/byte_ranges.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::http {
namespace {

std::string described(std::string_view field, std::uint64_t size_bytes) {
  const range_set found = parse_ranges(field, size_bytes);
  if (found.outcome == range_outcome::ignored) return "ignored";
  if (found.outcome == range_outcome::unsatisfiable) return "unsatisfiable";
  std::string text;
  for (const auto [first, last] : found.all())
    text += std::to_string(first) + "-" + std::to_string(last) + " ";
  return text;
}

TEST(byte_ranges, are_read_as_rfc_9110_says) {
  struct range_case {
    std::string_view field;
    std::string_view ranges;
  };
  for (const auto& [field, ranges] : std::vector<range_case>{
           {"bytes=0-499", "0-499 "},
           {"bytes=500-999", "500-999 "},
           {"bytes=-500", "9500-9999 "},
           {"bytes=9500-", "9500-9999 "},
           {"bytes=0-0,-1", "0-0 9999-9999 "},
           {"bytes= 0-999, 4500-5499, -1000", "0-999 4500-5499 9000-9999 "},
           {"bytes=0-", "0-9999 "},
           {"bytes=-20000", "0-9999 "},
           {"bytes=9999-20000", "9999-9999 "},
           {"bytes=0-99999999999999999999999999", "0-9999 "},
           {"Bytes=0-1", "0-1 "},
           {"bytes=0-1,,", "0-1 "},
           {"bytes=0000000000000000000000001-2", "1-2 "},
           // Parts of it are not there.
           {"bytes=20000-, 0-1", "0-1 "},
           {"bytes=10000-", "unsatisfiable"},
           {"bytes=-0", "unsatisfiable"},
           {"bytes=10000-20000,30000-", "unsatisfiable"},
           {"bytes=99999999999999999999999999-", "unsatisfiable"},
           // The order is the client's; what overlaps or is near becomes one.
           {"bytes=9000-9099,0-99", "9000-9099 0-99 "},
           {"bytes=0-499,400-999", "0-999 "},
           {"bytes=0-499,500-999", "0-999 "},
           {"bytes=0-499,579-999", "0-999 "},
           {"bytes=0-499,581-999", "0-499 581-999 "},
           {"bytes=0-9,5000-5009,10-5000", "0-5009 "},
           {"bytes=0-9,1000-1009,2000-2009,950-1990", "0-9 950-2009 "},
           {"bytes=0-,0-,0-,0-,0-,0-,0-,0-", "0-9999 "},
           // Malformed, or another unit.
           {"", "ignored"},
           {"bytes", "ignored"},
           {"bytes=", "ignored"},
           {"bytes=,", "ignored"},
           {"bytes=-", "ignored"},
           {"bytes=a-b", "ignored"},
           {"bytes=1", "ignored"},
           {"bytes=2-1", "ignored"},
           {"bytes=1-2-3", "ignored"},
           {"bytes=--1", "ignored"},
           {"bytes=+1-2", "ignored"},
           {"bytes=1 -2", "ignored"},
           {"bytes=0x1-2", "ignored"},
           {"bytes=0-1;1-2", "ignored"},
           {"bytes =0-1", "ignored"},
           {"lines=0-1", "ignored"},
           {"bytes=0-1,x", "ignored"},
       })
    EXPECT_EQ(described(field, 10'000), ranges) << field;
}

TEST(byte_ranges, of_nothing_are_unsatisfiable) {
  for (std::string_view field : {"bytes=0-", "bytes=-1", "bytes=0-0"})
    EXPECT_EQ(described(field, 0), "unsatisfiable") << field;
  EXPECT_EQ(described("bytes=0-, -1", UINT64_MAX), "0-18446744073709551614 ");
}

TEST(byte_ranges, are_ignored_where_there_are_too_many) {
  std::string field = "bytes=";
  for (int i = 0; i < 16; ++i)
    field += std::to_string(i * 200) + "-" + std::to_string(i * 200) + ",";
  EXPECT_EQ(parse_ranges(field, 10'000).count, 16u);
  EXPECT_EQ(described(field + "9999-", 10'000), "ignored");
  EXPECT_EQ(described(field + "10000-", 10'000), "ignored");
}

TEST(content_range, is_written_for_206_and_for_416) {
  std::array<char, content_range_bytes_max> room;
  EXPECT_EQ(content_range({.first = 0, .last = 99}, 1000, room), "bytes 0-99/1000");
  EXPECT_EQ(content_range({.first = UINT64_MAX, .last = UINT64_MAX}, UINT64_MAX, room),
            "bytes 18446744073709551615-18446744073709551615/18446744073709551615");
  EXPECT_EQ(unsatisfied_range(1000, room), "bytes */1000");
}

}  // namespace
}  // namespace weft::http
