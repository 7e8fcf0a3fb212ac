#include <weft/http/headers.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace weft::http {
namespace {

bool differs_in_case_at_most(unsigned char left, unsigned char right) {
  const auto lower = [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : int{c}; };
  return lower(left) == lower(right);
}

TEST(equals_ignoring_case, looks_at_each_byte_wherever_it_stands) {
  for (std::size_t size = 1; size <= 25; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string left(size, 'x');
      std::string right(size, 'X');
      for (unsigned one = 0; one < 256; ++one) {
        for (const unsigned other : {one, one ^ 0x20U, one ^ 0x80U, one ^ 1U}) {
          left[at] = static_cast<char>(one);
          right[at] = static_cast<char>(other);
          const bool expected = differs_in_case_at_most(static_cast<unsigned char>(one),
                                                        static_cast<unsigned char>(other));
          ASSERT_EQ(equals_ignoring_case(left, right), expected)
              << size << " bytes, " << one << " and " << other << " at " << at;
        }
      }
    }
  }
}

TEST(equals_ignoring_case, needs_the_same_length) {
  EXPECT_TRUE(equals_ignoring_case("", ""));
  EXPECT_FALSE(equals_ignoring_case("", "a"));
  EXPECT_FALSE(equals_ignoring_case("content-length", "content-length2"));
}

}  // namespace
}  // namespace weft::http
