#include <weft/http/cookies.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <weft/http/request_parser.hpp>

namespace weft::http {
namespace {

std::string pieces_of(std::string_view field) {
  std::string text;
  for (const auto [name, value] : cookies{field})
    text.append(name).append("=[").append(value).append("] ");
  return text;
}

TEST(cookies, are_read_in_order_and_what_is_none_is_passed_over) {
  struct field {
    std::string_view sent;
    std::string_view read;
  };
  for (const auto& [sent, read] : std::vector<field>{
           {"a=b", "a=[b] "},
           {"a=b; c=d", "a=[b] c=[d] "},
           {"a=b;c=d;", "a=[b] c=[d] "},
           {" a=b ;\tc=d", "a=[b] c=[d] "},
           {"a=", "a=[] "},
           {"a=b=c", "a=[b=c] "},
           {R"(a="b")", R"(a=["b"] )"},
           {"", ""},
           {";;", ""},
           {"nothing; a=b", "a=[b] "},
           {"=nameless; a=b", "a=[b] "},
           {"a b=c; d=e", "d=[e] "},
           {R"(a=x\y; d=e)", "d=[e] "},
           {R"(a=x"y; d=e)", "d=[e] "},
           {"a=x,y; d=e", "d=[e] "},
           {"a=\xc3\xa4; d=e", "d=[e] "},
           {R"(a="; b="c; d=e)", "d=[e] "},
       })
    EXPECT_EQ(pieces_of(sent), read) << sent;
}

TEST(cookies, are_found_in_all_fields_by_their_exact_name) {
  constexpr std::string_view input =
      "GET / HTTP/1.1\r\nHost: a\r\nCookie: a=1; b=2\r\nX: y\r\ncookie: b=3; c=4\r\n\r\n";
  request_parser parser;
  const auto head = std::make_unique<parsed_head>();
  ASSERT_EQ(parser.parse(input, *head, limits{}), parse_status::complete);
  EXPECT_EQ(find_cookie(head->headers(), "a"), "1");
  EXPECT_EQ(find_cookie(head->headers(), "b"), "2");
  EXPECT_EQ(find_cookie(head->headers(), "c"), "4");
  EXPECT_EQ(find_cookie(head->headers(), "C"), std::nullopt);
}

TEST(set_cookie, is_written_with_all_its_attributes) {
  std::string out = "before";
  ASSERT_TRUE(write_set_cookie({.name = "a", .value = "b"}, out));
  EXPECT_EQ(out, "a=b; SameSite=Lax");
  ASSERT_TRUE(write_set_cookie({.name = "a",
                                .value = "b",
                                .domain = "shop.example",
                                .path = "/cart",
                                .max_age_seconds = 4294967295u,
                                .same_site = same_site::none,
                                .secure = true,
                                .http_only = true,
                                .partitioned = true},
                               out));
  EXPECT_EQ(out,
            "a=b; Domain=shop.example; Path=/cart; Max-Age=4294967295; SameSite=None; Secure; "
            "HttpOnly; Partitioned");
  ASSERT_TRUE(
      write_set_cookie({.name = "a", .max_age_seconds = 0, .same_site = same_site::unset}, out));
  EXPECT_EQ(out, "a=; Max-Age=0");
}

TEST(set_cookie, is_refused_with_a_reason_where_clients_would_drop_it) {
  const std::string long_value(4096, 'x');
  const std::string long_path = "/" + std::string(1024, 'x');
  const std::string long_label(64, 'x');
  const std::vector<set_cookie> refused = {
      {.name = ""},
      {.name = "a b"},
      {.name = "a="},
      {.name = "a", .value = "b c"},
      {.name = "a", .value = "b;c"},
      {.name = "a", .value = "b\r\nSet-Cookie: c=d"},
      {.name = "a", .value = "\""},
      {.name = "a", .value = "b\"c"},
      {.name = "a", .value = long_value},
      {.name = "a", .domain = ".example.com"},
      {.name = "a", .domain = "example.com."},
      {.name = "a", .domain = "exa mple.com"},
      {.name = "a", .domain = "-a.example"},
      {.name = "a", .domain = long_label},
      {.name = "a", .path = "cart"},
      {.name = "a", .path = "/a;b"},
      {.name = "a", .path = "/a\nb"},
      {.name = "a", .path = long_path},
      {.name = "a", .same_site = same_site::none},
      {.name = "a", .partitioned = true},
      {.name = "__Secure-a"},
      {.name = "__SECURE-a"},
      {.name = "__Host-a", .path = "/"},
      {.name = "__Host-a", .secure = true},
      {.name = "__Host-a", .path = "/a", .secure = true},
      {.name = "__host-a", .domain = "example.com", .path = "/", .secure = true},
  };
  for (const set_cookie& one : refused) {
    std::string out = "as before";
    EXPECT_FALSE(fault_of(one).empty()) << one.name << "=" << one.value;
    EXPECT_EQ(write_set_cookie(one, out).error(), errc::invalid_argument);
    EXPECT_EQ(out, "as before");
  }
  EXPECT_EQ(fault_of({.name = "__Host-a", .path = "/", .secure = true}), "");
  EXPECT_EQ(fault_of({.name = "__Secure-a", .domain = "a-b.example", .secure = true}), "");
}

}  // namespace
}  // namespace weft::http
