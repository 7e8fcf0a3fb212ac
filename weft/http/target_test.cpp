#include <weft/http/target.hpp>

#include <gtest/gtest.h>

namespace weft::http {
namespace {

std::string normal(std::string_view path) {
  std::string room;
  return std::string{normalize_path(path, room)};
}

TEST(target, normal_form_removes_dot_segments) {
  EXPECT_EQ(normal("/"), "/");
  EXPECT_EQ(normal("/a/b"), "/a/b");
  EXPECT_EQ(normal("/a/"), "/a/");
  EXPECT_EQ(normal("/."), "/");
  EXPECT_EQ(normal("/.."), "/");
  EXPECT_EQ(normal("/a/./b"), "/a/b");
  EXPECT_EQ(normal("/a/../b"), "/b");
  EXPECT_EQ(normal("/a/b/c/../../d"), "/a/d");
  EXPECT_EQ(normal("/a/.."), "/");
  EXPECT_EQ(normal("/a/b/.."), "/a/");
  EXPECT_EQ(normal("/../../a"), "/a");
  EXPECT_EQ(normal("//.."), "/");
  EXPECT_EQ(normal("/a//../b"), "/a/b");
}

TEST(target, normal_form_decodes_only_what_means_itself) {
  EXPECT_EQ(normal("/%61%2d%2e%5f%7e"), "/a-._~");
  EXPECT_EQ(normal("/a%2fb%20%c3%a4"), "/a%2Fb%20%C3%A4");
  EXPECT_EQ(normal("/%2e%2e/a"), "/a");
  EXPECT_EQ(normal("/%252e"), "/%252e");
}

TEST(target, normal_form_encodes_what_a_uri_must_have_encoded) {
  EXPECT_EQ(normal(R"(/[a]|{b}^`"<c>)"), "/%5Ba%5D%7C%7Bb%7D%5E%60%22%3Cc%3E");
  EXPECT_EQ(normal("/caf\xc3\xa9/\xff"), "/caf%C3%A9/%FF");
  EXPECT_EQ(normal(R"(/a\..\b)"), "/a%5C..%5Cb");
  EXPECT_EQ(normal(R"(/a/..\..)"), "/a/..%5C..");
  EXPECT_EQ(normal(R"(/\evil.test/)"), "/%5Cevil.test/");
}

TEST(target, encode_target) {
  EXPECT_EQ(encode_target("/a/b?c=%20&d"), "/a/b?c=%20&d");
  EXPECT_EQ(encode_target(R"(/a[b]?c={"d|e"}\)"), "/a%5Bb%5D?c=%7B%22d%7Ce%22%7D%5C");
  EXPECT_EQ(encode_target("/ok path?caf\xc3\xa9"), "/ok%20path?caf%C3%A9");
  EXPECT_EQ(encode_target(""), "");
}

TEST(target, resolve_target_removes_dot_segments) {
  EXPECT_EQ(resolve_target("/a/b/c/./../../g"), "/a/g");  // RFC 3986 section 5.2.4
  EXPECT_EQ(resolve_target("/mid/content=5/../6"), "/mid/6");
  EXPECT_EQ(resolve_target("/../../.."), "/");
  EXPECT_EQ(resolve_target("/a/b/.."), "/a/");
  EXPECT_EQ(resolve_target("/a/."), "/a/");
  EXPECT_EQ(resolve_target("/a//../b"), "/a/b");
  EXPECT_EQ(resolve_target("//../b"), "/b");
  EXPECT_EQ(resolve_target("/%2E/.%2e/%2e./a"), "/a");
  EXPECT_EQ(resolve_target("/a/...?/../b"), "/a/...?/../b");
  EXPECT_EQ(resolve_target("/a%2f/../b c"), "/b%20c");
  EXPECT_EQ(resolve_target("/"), "/");
  EXPECT_EQ(resolve_target("?/./a"), "?/./a");
  EXPECT_EQ(resolve_target(""), "");
}

TEST(target, normal_form_is_its_own) {
  for (std::string_view path : {"/", "/a/b/", "/a%2Fb", "/..a/.b", "//", "/%5B%7C%5C%C3%A9"})
    EXPECT_EQ(normal(path), path);
}

TEST(target, percent_decode) {
  EXPECT_EQ(percent_decode("a%20b%2Fc+d"), "a b/c+d");
  EXPECT_EQ(percent_decode("%00"), std::string(1, '\0'));
  EXPECT_EQ(percent_decode(""), "");
  for (std::string_view bad : {"%", "a%", "%2", "%g0", "%0g", "%%20"})
    EXPECT_EQ(percent_decode(bad).error(), errc::invalid_argument) << bad;
}

TEST(target, find_query_parameter) {
  constexpr std::string_view query = "a=1&b=&c&a=2&d=x=y";
  EXPECT_EQ(find_query_parameter(query, "a"), "1");
  EXPECT_EQ(find_query_parameter(query, "b"), "");
  EXPECT_EQ(find_query_parameter(query, "c"), "");
  EXPECT_EQ(find_query_parameter(query, "d"), "x=y");
  EXPECT_EQ(find_query_parameter(query, "e"), std::nullopt);
  EXPECT_EQ(find_query_parameter("", "a"), std::nullopt);
}

}  // namespace
}  // namespace weft::http
