#include <weft/http/form.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::http {
namespace {

// "name=[value] " for each pair, then why it ended where that was too early.
std::string pairs_of(std::string_view encoded, std::size_t pairs_max) {
  std::string room(encoded.size(), '\0');
  form_reader form{encoded, room, pairs_max};
  std::string text;
  for (;;) {
    const auto pair = form.next();
    if (!pair) {
      EXPECT_EQ(form.next().error(), pair.error());
      return text + to_string(pair.error().code());
    }
    if (!*pair) return text;
    text.append((*pair)->name).append("=[").append((*pair)->value).append("] ");
  }
}

TEST(form, pairs_come_decoded_and_in_order) {
  struct form_case {
    std::string_view sent;
    std::string_view read;
  };
  for (const auto& [sent, read] : std::vector<form_case>{
           {"", ""},
           {"a=1", "a=[1] "},
           {"a=1&b=2&a=3", "a=[1] b=[2] a=[3] "},
           {"a", "a=[] "},
           {"a=", "a=[] "},
           {"=a", "=[a] "},
           {"=", "=[] "},
           {"a=b=c", "a=[b=c] "},
           {"&&a=1&&", "a=[1] "},
           {"a+b=c+d", "a b=[c d] "},
           {"a%20b=%c3%A4%2b", "a b=[\xc3\xa4+] "},
           {"a=%26%3d", "a=[&=] "},
           {"a;b=c", "a;b=[c] "},
           {"a=1&b=%", "a=[1] invalid_argument"},
           {"a=%2", "invalid_argument"},
           {"a=%2g", "invalid_argument"},
           {"%u0041=1", "invalid_argument"},
           {"a%=b", "invalid_argument"},
       })
    EXPECT_EQ(pairs_of(sent, 10), read) << sent;
}

TEST(form, has_no_more_pairs_than_the_limit) {
  EXPECT_EQ(pairs_of("a&b&c", 3), "a=[] b=[] c=[] ");
  EXPECT_EQ(pairs_of("a&b&c&d", 3), "a=[] b=[] c=[] limit_exceeded");
  EXPECT_EQ(pairs_of("a&b&", 2), "a=[] b=[] ");
}

TEST(form, may_be_decoded_where_it_lies) {
  std::string body = "name=Ada+Lovelace&city=%4condon&%61=%20";
  form_reader form{body, body};
  std::vector<form_pair> pairs;
  for (auto pair = form.next(); pair && *pair; pair = form.next()) pairs.push_back(**pair);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].value, "Ada Lovelace");
  EXPECT_EQ(pairs[1].value, "London");
  EXPECT_EQ(pairs[2].name, "a");
  EXPECT_EQ(pairs[2].value, " ");
  EXPECT_EQ(pairs[0].name.data(), body.data());
}

}  // namespace
}  // namespace weft::http
