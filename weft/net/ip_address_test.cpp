#include <weft/net/ip_address.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace weft::net {
namespace {

TEST(ip_address, is_read_strictly_and_written_shortly) {
  struct address_case {
    std::string_view text;
    std::string_view written;
  };
  for (const auto& [text, written] :
       std::vector<address_case>{{"127.0.0.1", "127.0.0.1"},
                                 {"255.255.255.255", "255.255.255.255"},
                                 {"::1", "::1"},
                                 {"2001:DB8:0::1", "2001:db8::1"},
                                 {"::ffff:10.0.0.1", "10.0.0.1"},
                                 {"::ffff:a00:1", "10.0.0.1"}}) {
    const auto parsed = ip_address::parse(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->to_string(), written);
  }
  for (std::string_view bad :
       {std::string_view{""}, std::string_view{"127.0.0"}, std::string_view{"127.0.0.01"},
        std::string_view{"127.0.0.256"}, std::string_view{"127.0.0.1 "},
        std::string_view{"127.0.0.1:80"}, std::string_view{"0x7f.0.0.1"},
        std::string_view{"2130706433"}, std::string_view{"[::1]"}, std::string_view{"fe80::1%lo"},
        std::string_view{":::"}, std::string_view{"1:2:3:4:5:6:7:8:9"},
        std::string_view{"127.0.0.1\0", 10},
        std::string_view{"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000"}})
    EXPECT_FALSE(ip_address::parse(bad)) << bad;
}

TEST(ip_address, of_an_endpoint) {
  EXPECT_EQ(ip_address::of(*endpoint::parse("10.0.0.1:80")), *ip_address::parse("10.0.0.1"));
  EXPECT_EQ(ip_address::of(*endpoint::parse("[::ffff:10.0.0.1]:80")),
            *ip_address::parse("10.0.0.1"));
  EXPECT_EQ(ip_address::of(*endpoint::parse("[fd00::1]:80")), *ip_address::parse("fd00::1"));
  EXPECT_EQ(ip_address::of(*endpoint::parse("unix:/run/a")), std::nullopt);
}

TEST(ip_network, holds_what_shares_its_prefix) {
  const auto holds = [](std::string_view network, std::string_view address) {
    return ip_network::parse(network)->contains(*ip_address::parse(address));
  };
  EXPECT_TRUE(holds("10.0.0.0/8", "10.255.0.1"));
  EXPECT_FALSE(holds("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(holds("10.0.0.0/8", "::ffff:10.1.2.3"));
  EXPECT_TRUE(holds("192.168.4.0/22", "192.168.7.255"));
  EXPECT_FALSE(holds("192.168.4.0/22", "192.168.8.0"));
  EXPECT_TRUE(holds("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(holds("0.0.0.0/0", "::1"));
  EXPECT_TRUE(holds("::/0", "fd00::1"));
  EXPECT_FALSE(holds("::/0", "8.8.8.8"));
  EXPECT_TRUE(holds("::ffff:10.0.0.0/104", "10.1.1.1"));
  EXPECT_TRUE(holds("fd00::/8", "fdff::"));
  EXPECT_FALSE(holds("fd00::/8", "fe00::"));
  EXPECT_TRUE(holds("::1", "::1"));
  EXPECT_FALSE(holds("127.0.0.1", "127.0.0.2"));
}

TEST(ip_network, is_nothing_else) {
  for (std::string_view bad :
       {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8 ",
        "10.0.0.1/8", "10.0.0.0/8/8", "::1/127", "::/129", "10.0.0/8", "localhost"})
    EXPECT_FALSE(ip_network::parse(bad)) << bad;
}

}  // namespace
}  // namespace weft::net
