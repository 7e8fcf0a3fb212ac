#include "target.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace {

using weft::bench::look_up;
using weft::bench::parse_target;
using weft::bench::scheme;

TEST(target, takes_urls_apart) {
  const auto plain = parse_target("http://127.0.0.1:8080/ping?a=b#c");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->speaks, scheme::http);
  EXPECT_EQ(plain->host, "127.0.0.1");
  EXPECT_EQ(plain->port, 8080);
  EXPECT_EQ(plain->path, "/ping?a=b");
  EXPECT_EQ(plain->to_string(), "http://127.0.0.1:8080/ping?a=b");

  const auto echo = parse_target("tcp://[::1]:9");
  ASSERT_TRUE(echo);
  EXPECT_EQ(echo->speaks, scheme::tcp);
  EXPECT_EQ(echo->host, "::1");
  EXPECT_EQ(echo->to_string(), "tcp://[::1]:9");
}

TEST(target, fills_in_port_and_path) {
  EXPECT_EQ(parse_target("http://example")->to_string(), "http://example:80/");
  EXPECT_EQ(parse_target("http://example?x=1")->path, "/?x=1");
  EXPECT_EQ(parse_target("https://example")->to_string(), "https://example:443/");
  EXPECT_EQ(parse_target("ws://example/a")->to_string(), "ws://example:80/a");
  EXPECT_EQ(parse_target("wss://example")->to_string(), "wss://example:443/");
}

TEST(target, refuses_with_a_reason) {
  for (const auto& [url, reason] : {
           std::pair{"127.0.0.1:8080/", "http://, https://, ws://, wss:// or tcp://"},
           {"http://:80/", "no host"},
           {"http://a:0/", "not a port"},
           {"http://a:65536/", "not a port"},
           {"http://a:8o/", "not a port"},
           {"http://[::1/", "without ']'"},
           {"http://a/b c", "blank"},
           {"http://a/\r\nX: y", "blank"},
           {"tcp://a", "needs a port"},
           {"tcp://a:1/x", "no path"},
       }) {
    const auto got = parse_target(url);
    ASSERT_FALSE(got) << url;
    EXPECT_NE(got.error().find(reason), std::string::npos) << url << ": " << got.error();
  }
}

TEST(target, numeric_hosts_need_no_resolver) {
  const auto found = look_up(*parse_target("http://127.0.0.1:8080/"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes.ss_family, AF_INET);
  EXPECT_EQ(found->size, sizeof(sockaddr_in));
}

}  // namespace
