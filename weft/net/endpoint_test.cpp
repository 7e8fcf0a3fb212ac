#include <weft/net/endpoint.hpp>

#include <net/if.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
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
                                      "[::1%]:80"sv,
                                      "[%lo]:80"sv,
                                      "127.0.0.1%lo:80"sv,
                                      "[127.0.0.1%lo]:80"sv,
                                      "[::1%lo%lo]:80"sv,
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

std::string loopback_interface() {
  std::array<char, IF_NAMESIZE> name{};
  return ::if_indextoname(1, name.data()) == nullptr ? "" : name.data();
}

TEST(endpoint, has_the_zone_of_an_ipv6_address) {
  const std::string named = "[fe80::1%" + loopback_interface() + "]:8080";
  const auto by_name = endpoint::parse(named);
  ASSERT_TRUE(by_name.has_value());
  EXPECT_EQ(reinterpret_cast<const sockaddr_in6&>(by_name->raw().storage).sin6_scope_id, 1U);
  EXPECT_EQ(by_name->to_string(), named);
  EXPECT_EQ(by_name->port(), 8080);
  EXPECT_EQ(round_trip("[fe80::1%1]:8080"), named) << "by its number";
  EXPECT_EQ(round_trip("[::1%1]:80"), "[::1%" + loopback_interface() + "]:80");
}

TEST(endpoint, whose_zone_is_no_interface_is_not_found) {
  for (const std::string_view text :
       {"[fe80::1%weft-none9]:80", "[fe80::1%4294967295]:80", "[fe80::1%0]:80",
        "[fe80::1%99999999999]:80", "[fe80::1%-1]:80", "[fe80::1%lo0123456789abcdef]:80"}) {
    const auto parsed = endpoint::parse(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error(), errc::not_found) << text;
  }
}

TEST(endpoint, takes_the_longest_path_the_kernel_does_and_no_longer) {
  const std::string longest(sizeof(sockaddr_un::sun_path) - 1, 'p');
  EXPECT_EQ(round_trip("unix:" + longest), "unix:" + longest);
  EXPECT_FALSE(endpoint::parse("unix:" + longest + "p").has_value());
}

}  // namespace
}  // namespace weft::net
