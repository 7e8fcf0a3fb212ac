#include <weft/store/number_text.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string_view>

namespace weft::store {
namespace {

/// As `SELECT typeof(CAST(x AS NUMERIC))` of a column with NUMERIC affinity has it.
TEST(number_text, looks_like_a_number_where_sqlite_makes_one_of_it) {
  for (const std::string_view text :
       {"0", "17", "-17", "+17", "017", "1.", ".5", "-.5", "1.5", "1e5", "1E+5", "1.e-5", " 1 ",
        "\t1\r\n", "9223372036854775808"})
    EXPECT_TRUE(looks_like_number(text)) << text;
  for (const std::string_view text :
       {"", " ", ".", "-", "e5", "1e", "1e+", "0x10", "1 2", "1a", "--1", "inf", "nan", "1_0"})
    EXPECT_FALSE(looks_like_number(text)) << text;
}

TEST(number_text, is_a_plain_integer_as_it_is_written_most_shortly) {
  EXPECT_EQ(plain_integer("17"), 17);
  EXPECT_EQ(plain_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const std::string_view text : {"", "017", "+1", "-0", "1.0", " 1", "9223372036854775808"})
    EXPECT_FALSE(plain_integer(text)) << text;
}

TEST(number_text, is_a_number_of_json_by_its_grammar) {
  for (const std::string_view text : {"0", "-0", "10", "1.5", "1e5", "1E-5", "0.0e+0"})
    EXPECT_TRUE(is_json_number(text)) << text;
  for (const std::string_view text : {"", "-", "01", "+1", ".5", "1.", "1e", "1 ", "0x1", "NaN"})
    EXPECT_FALSE(is_json_number(text)) << text;
}

}  // namespace
}  // namespace weft::store
