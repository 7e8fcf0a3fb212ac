#include <weft/http/trusted_proxies.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace weft::http {
namespace {

using names = std::vector<std::string>;

trusted_proxies trusting(const names& texts) { return trusted_proxies::parse(texts).value(); }

connection_peer address(std::string_view text) {
  return {.address = *net::ip_address::parse(text)};
}
constexpr connection_peer unix_socket{.is_unix_socket = true};

TEST(trusted_proxies, contain_whoever_is_named) {
  const trusted_proxies named = trusting({"10.0.0.0/8", "192.0.2.7", "fd00::/8"});
  for (const std::string_view inside : {"10.1.2.3", "::ffff:10.1.2.3", "192.0.2.7", "fd00::1"})
    EXPECT_TRUE(named.contain(address(inside))) << inside;
  for (const std::string_view outside : {"11.0.0.1", "192.0.2.8", "fe80::1"})
    EXPECT_FALSE(named.contain(address(outside))) << outside;
  EXPECT_FALSE(named.contain(unix_socket)) << "a Unix socket was not named";
}

TEST(trusted_proxies, are_nobody_unless_named) {
  EXPECT_TRUE(trusted_proxies{}.empty());
  EXPECT_FALSE(trusted_proxies{}.contain(address("127.0.0.1")));
  EXPECT_FALSE(trusted_proxies{}.contain(unix_socket));
}

TEST(trusted_proxies, are_everybody_by_one_name_a_family) {
  const trusted_proxies all = trusting({"0.0.0.0/0", "::/0", "unix:"});
  EXPECT_TRUE(all.contain(address("8.8.8.8")));
  EXPECT_TRUE(all.contain(address("2001:db8::1")));
  EXPECT_TRUE(all.contain(unix_socket));
  EXPECT_FALSE(trusting({"::/0"}).contain(address("8.8.8.8")));
}

TEST(trusted_proxies, are_nobody_who_is_not_known) {
  const trusted_proxies all = trusting({"0.0.0.0/0", "::/0", "unix:"});
  EXPECT_FALSE(all.contain(connection_peer{})) << "its client had gone";
  EXPECT_FALSE(all.contain(connection_peer::of(fail(errc::closed))));
  connection_peer hiding = address("127.0.0.1");
  hiding.hides_its_client = true;
  EXPECT_FALSE(all.contain(hiding));
}

TEST(trusted_proxies, say_which_name_is_none) {
  for (const std::string_view wrong :
       {"10.0.0.1/8", "localhost", "10.0.0.0/33", "", "unix:/run/a"}) {
    const auto read = trusted_proxies::parse(names{"10.0.0.0/8", std::string{wrong}});
    ASSERT_FALSE(read.has_value()) << wrong;
    EXPECT_EQ(read.error(), wrong);
  }
}

}  // namespace
}  // namespace weft::http
