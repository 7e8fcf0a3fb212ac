#include <weft/http/field_syntax.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace weft::http::field_syntax {
namespace {

std::vector<std::string> elements_of(std::string_view list, char separator = ',') {
  std::vector<std::string> all;
  while (!list.empty()) all.emplace_back(take_element(list, separator));
  return all;
}

TEST(field_syntax, a_list_is_split_outside_of_quotes) {
  using texts = std::vector<std::string>;
  EXPECT_EQ(elements_of("a, b\t ,c"), (texts{"a", "b", "c"}));
  EXPECT_EQ(elements_of(",a,,b"), (texts{"", "a", "", "b"}));
  EXPECT_EQ(elements_of(R"("a,b", c="d\",e")"), (texts{R"("a,b")", R"(c="d\",e")"}));
  EXPECT_EQ(elements_of(R"(a, "b, c)"), (texts{"a", R"("b, c)"}));
  EXPECT_EQ(elements_of(R"(a, "b\)"), (texts{"a", R"("b\)"}));
  EXPECT_EQ(elements_of(R"(a;"b;c";d)", ';'), (texts{"a", R"("b;c")", "d"}));
}

TEST(field_syntax, a_parameter_is_a_token_and_a_token_or_a_quoted_string) {
  for (std::string_view good : {"a=b", R"(a="")", R"(a="b c")", R"(a="\"")"})
    EXPECT_TRUE(parse_parameter(good)) << good;
  for (std::string_view bad : {"", "a", "a=", "=b", "a =b", "a= b", R"(a="b)", R"(a="b"c)", "a=b c",
                               "a=\"\x01\"", R"(a="\)"})
    EXPECT_FALSE(parse_parameter(bad)) << bad;
}

TEST(field_syntax, parameters_come_one_after_the_other) {
  std::string_view rest = R"(;a=1 ;; b="x;y";)";
  parameter next;
  ASSERT_TRUE(take_parameter(rest, next));
  EXPECT_EQ(next.name, "a");
  EXPECT_EQ(next.value, "1");
  ASSERT_TRUE(take_parameter(rest, next));
  EXPECT_EQ(next.name, "b");
  EXPECT_EQ(next.value, "x;y");
  EXPECT_TRUE(next.quoted);
  ASSERT_TRUE(take_parameter(rest, next));
  EXPECT_TRUE(next.name.empty());
  for (std::string_view bad : {"a=1", ";a", "; a = 1", ";a=1 b=2"}) {
    std::string_view text = bad;
    EXPECT_FALSE(take_parameter(text, next)) << bad;
  }
}

TEST(field_syntax, a_backslash_hides_the_next_character) {
  std::array<char, 16> room;
  EXPECT_EQ(unquote({.name = "a", .value = R"(b\"c\\)", .quoted = true}, room), R"(b"c\)");
  const std::string_view plain = "as it is";
  EXPECT_EQ(unquote({.name = "a", .value = plain, .quoted = true}, room).data(), plain.data());
}

}  // namespace
}  // namespace weft::http::field_syntax
