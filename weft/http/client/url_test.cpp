#include <weft/http/client/url.hpp>

#include <string>

#include <gtest/gtest.h>

namespace weft::http {
namespace {

TEST(url, is_taken_apart) {
  const auto to = parse_url("http://orders.example:8080/orders?open=1#top");
  ASSERT_TRUE(to.has_value());
  EXPECT_EQ(to->scheme, scheme::http);
  EXPECT_EQ(to->host, "orders.example");
  EXPECT_EQ(to->port, 8080);
  EXPECT_EQ(to->authority, "orders.example:8080");
  EXPECT_EQ(to->target, "/orders?open=1");
}

TEST(url, has_the_port_of_its_scheme) {
  EXPECT_EQ(parse_url("http://a/")->port, 80);
  EXPECT_EQ(parse_url("HTTPS://a/")->port, 443);
  EXPECT_EQ(parse_url("https://a:/")->port, 443);
}

TEST(url, may_lack_a_path) {
  EXPECT_EQ(parse_url("http://a")->target, "");
  EXPECT_EQ(parse_url("http://a?b=c")->target, "?b=c");
  EXPECT_EQ(parse_url("http://a?b=c")->host, "a");
  EXPECT_EQ(parse_url("http://a#b")->host, "a");
}

TEST(url, shows_an_ipv6_address_without_brackets) {
  const auto to = parse_url("http://[::1]:81/");
  EXPECT_EQ(to->host, "::1");
  EXPECT_EQ(to->port, 81);
  EXPECT_EQ(to->authority, "[::1]:81");
  EXPECT_EQ(parse_url("https://[::1]/")->port, 443);
}

TEST(url, that_is_none_is_refused) {
  for (const std::string text :
       {"", "/path", "ftp://a/", "http:/a", "http://", "http:///x", "http://a:0/",
        "http://a:65536/", "http://a:b/", "http://user:pass@a/", "http://a b/", "http://a/b c",
        "http://a/\r\nX: y", "http://a/%", "http://a/%zz", "http://[::1/", "http://::1/",
        "http://a/\xc3\xa9"})
    EXPECT_FALSE(parse_url(text).has_value()) << text;
  EXPECT_FALSE(parse_url("http://" + std::string(256, 'a')).has_value());
  EXPECT_TRUE(parse_url("http://" + std::string(255, 'a')).has_value());
}

}  // namespace
}  // namespace weft::http
