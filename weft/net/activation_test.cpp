#include <weft/net/activation.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include <weft/loop/socket_calls.hpp>
#include <weft/net/address_claim.hpp>

namespace weft::net {
namespace {

std::string own_pid() { return std::to_string(::getpid()); }

std::string complaint(std::string_view text, const activation_variables& said) {
  const auto found = activated_socket(text, said);
  return found ? "" : found.error();
}

TEST(activation, is_asked_for_by_its_prefix) {
  EXPECT_TRUE(is_activated("systemd:"));
  EXPECT_TRUE(is_activated("systemd:web"));
  EXPECT_FALSE(is_activated("unix:/run/systemd:web"));
}

TEST(activation, says_what_is_wrong_and_what_to_do) {
  EXPECT_NE(complaint("systemd:", {}).find("LISTEN_FDS is not set"), std::string::npos);
  EXPECT_NE(complaint("systemd:", {.pid = "1", .count = "1", .names = {}}).find("`exec`"),
            std::string::npos);
  EXPECT_NE(complaint("systemd:", {.pid = own_pid(), .count = "many", .names = {}}).find("'many'"),
            std::string::npos);
  EXPECT_NE(complaint("systemd:", {.pid = own_pid(), .count = "0", .names = {}}).find("'0'"),
            std::string::npos);
  EXPECT_NE(complaint("systemd:api", {.pid = own_pid(), .count = "2", .names = "web:admin"})
                .find("only 'web:admin'"),
            std::string::npos);
  EXPECT_NE(complaint("systemd:", {.pid = own_pid(), .count = "2", .names = "web:admin"})
                .find("any of 2 sockets"),
            std::string::npos);
  EXPECT_NE(complaint("systemd:web", {.pid = own_pid(), .count = "2", .names = "web:web"})
                .find("any of 2 sockets"),
            std::string::npos);
}

TEST(address_claim, leaves_a_borrowed_socket_as_it_was) {
  const auto lender = open_listener(endpoint::loopback(0).raw(), {});
  ASSERT_TRUE(lender.has_value());
  const endpoint where{socket_address(*lender).value()};
  {
    const auto claim = address_claim::borrow(*lender);
    ASSERT_TRUE(claim.has_value());
    EXPECT_EQ(claim->address().port(), where.port());
    EXPECT_TRUE(claim->options().lent);
    EXPECT_FALSE(claim->options().shared);
    EXPECT_GE(claim->options().inherited, 0);
  }
  const auto client = open_stream_socket(AF_INET);
  ASSERT_TRUE(client.has_value());
  ::fcntl(*client, F_SETFL, 0);
  EXPECT_EQ(::connect(*client, where.raw().get(), where.raw().size_bytes), 0) << "it still listens";
  ::close(*client);
  ::close(*lender);
}

}  // namespace
}  // namespace weft::net
