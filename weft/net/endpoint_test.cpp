#include <weft/net/endpoint.hpp>

#include <sys/un.h>

#include <string>

#include <gtest/gtest.h>

namespace weft::net {
namespace {

std::string round_trip(std::string_view text) {
  const auto parsed = endpoint::parse(text);
  return parsed ? parsed->to_string() : "refused";
}

TEST(endpoint, reads_each_form_and_writes_it_back) {
  EXPECT_EQ(round_trip("127.0.0.1:8080"), "127.0.0.1:8080");
  EXPECT_EQ(round_trip("[::1]:443"), "[::1]:443");
  EXPECT_EQ(round_trip("[2001:db8::7]:0"), "[2001:db8::7]:0");
  EXPECT_EQ(round_trip("unix:/run/app.sock"), "unix:/run/app.sock");
  EXPECT_EQ(round_trip("unix:@app"), "unix:@app");
  EXPECT_EQ(round_trip(":8080"), "0.0.0.0:8080");
  EXPECT_EQ(round_trip("255.255.255.255:65535"), "255.255.255.255:65535");
}

TEST(endpoint, knows_its_family_and_port) {
  EXPECT_EQ(endpoint::parse("10.1.2.3:99")->family(), AF_INET);
  EXPECT_EQ(endpoint::parse("10.1.2.3:99")->port(), 99);
  EXPECT_EQ(endpoint::parse("[::]:7")->family(), AF_INET6);
  EXPECT_EQ(endpoint::parse("[::]:7")->port(), 7);
  EXPECT_EQ(endpoint::parse("unix:/x")->family(), AF_UNIX);
  EXPECT_EQ(endpoint::parse("unix:/x")->port(), 0);
  EXPECT_EQ(endpoint::loopback(5).to_string(), "127.0.0.1:5");
}

TEST(endpoint, tells_abstract_names_from_paths) {
  EXPECT_TRUE(endpoint::parse("unix:@app")->is_abstract());
  EXPECT_FALSE(endpoint::parse("unix:/@app")->is_abstract());
  EXPECT_FALSE(endpoint::loopback(1).is_abstract());
}

TEST(endpoint, refuses_what_is_none_of_the_forms) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {""sv,
                                      ":"sv,
                                      "127.0.0.1"sv,
                                      "127.0.0.1:"sv,
                                      "127.0.0.1:65536"sv,
                                      "127.0.0.1:-1"sv,
                                      "127.0.0.1:+1"sv,
                                      "127.0.0.1: 80"sv,
                                      "127.0.0.1:80 "sv,
                                      "127.0.0.1:0x50"sv,
                                      "127.0.0:80"sv,
                                      "127.0.0.256:80"sv,
                                      "127.0.0.1.5:80"sv,
                                      "localhost:80"sv,
                                      "::1:80"sv,
                                      "[::1]"sv,
                                      "[::1"sv,
                                      "[]:80"sv,
                                      "[127.0.0.1]:80"sv,
                                      "[::1%lo]:80"sv,
                                      "::1]:80"sv,
                                      "unix:"sv,
                                      "unix:@"sv,
                                      "127.0.0.1\0.evil:80"sv,
                                      "[::1\0x]:80"sv,
                                      "unix:/a\0b"sv}) {
    const auto parsed = endpoint::parse(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error(), errc::invalid_argument) << text;
  }
}

TEST(endpoint, takes_the_longest_path_the_kernel_does_and_no_longer) {
  const std::string longest(sizeof(sockaddr_un::sun_path) - 1, 'p');
  EXPECT_EQ(round_trip("unix:" + longest), "unix:" + longest);
  EXPECT_FALSE(endpoint::parse("unix:" + longest + "p").has_value());
}

}  // namespace
}  // namespace weft::net
