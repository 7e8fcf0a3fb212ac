#include <weft/http/content_type.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace weft::http {
namespace {

TEST(content_type, has_a_type_a_subtype_and_parameters) {
  std::array<char, 64> room;
  const auto plain = parse_content_type("application/json");
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->is("Application", "JSON"));
  EXPECT_FALSE(plain->is("application", "xml"));
  EXPECT_EQ(plain->parameter("charset", room), std::nullopt);

  const auto form = parse_content_type(R"(multipart/form-data;  Boundary="a b\"c" ; x=1)");
  ASSERT_TRUE(form);
  EXPECT_EQ(form->type, "multipart");
  EXPECT_EQ(form->subtype, "form-data");
  EXPECT_EQ(form->parameter("boundary", room), R"(a b"c)");
  EXPECT_EQ(form->parameter("X", room), "1");
  EXPECT_TRUE(parse_content_type("text/html ;charset=utf-8;"));
  const auto spaced = parse_content_type("text/html; charset = utf-8 ;x= \"1\"");
  ASSERT_TRUE(spaced);
  EXPECT_EQ(spaced->parameter("charset", room), "utf-8");
  EXPECT_EQ(spaced->parameter("x", room), "1");
  EXPECT_EQ(parse_content_type("text/html;charset=")->parameter("charset", room), "");
}

TEST(content_type, is_nothing_else) {
  std::string many = "a/b";
  for (int i = 0; i < 16; ++i) many += ";p" + std::to_string(i) + "=1";
  EXPECT_TRUE(parse_content_type(many));
  const std::string too_many = many + ";p=1";
  for (std::string_view bad :
       {std::string_view{""}, std::string_view{"text"}, std::string_view{"text/"},
        std::string_view{"/html"}, std::string_view{"text / html"}, std::string_view{"a/b/c"},
        std::string_view{"a/b;char set=c"}, std::string_view{"a/b;=c"},
        std::string_view{"a/b;c=\"d"}, std::string_view{"a/b;c=d e"}, std::string_view{"a/b, c/d"},
        std::string_view{"a/b;c=1;C=2"}, std::string_view{too_many}})
    EXPECT_FALSE(parse_content_type(bad)) << bad;
}

}  // namespace
}  // namespace weft::http
