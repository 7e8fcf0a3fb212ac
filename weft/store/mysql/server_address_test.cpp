#include <weft/store/mysql/server_address.hpp>

#include <string>

#include <gtest/gtest.h>

#include <weft/loop/loop_fixture_test.hpp>

namespace weft::store::mysql {
namespace {

class mysql_address_test : public loop_fixture {
 protected:
  void SetUp() override { open({.backend = backend_kind::epoll}); }

  std::string first_of(std::string_view text) {
    std::string first;
    loop_->spawn([](event_loop& loop, std::string_view asked, std::string& out) -> task<void> {
      const auto where = server_address::parse(asked);
      EXPECT_TRUE(where) << asked;
      auto names = net::resolver::create(loop);
      const auto found = co_await where->look_up(*names);
      if (found) out = found->front().to_string();
    }(*loop_, text, first));
    loop_->run();
    return first;
  }
};

TEST_F(mysql_address_test, is_an_address_or_a_name) {
  EXPECT_EQ(first_of("127.0.0.1:3306"), "127.0.0.1:3306");
  EXPECT_EQ(first_of("[::1]:3306"), "[::1]:3306");
  EXPECT_EQ(first_of("unix:/run/mysqld/mysqld.sock"), "unix:/run/mysqld/mysqld.sock");
  EXPECT_TRUE(first_of("localhost:3307").ends_with(":3307"));
}

TEST_F(mysql_address_test, has_a_zone_that_is_no_part_of_its_name) {
  EXPECT_TRUE(first_of("[fe80::1%1]:3306").starts_with("[fe80::1%"));
  EXPECT_EQ(server_address::parse("[fe80::1%1]:3306")->host(), "fe80::1");
  EXPECT_EQ(host_of("[fe80::1%eth0]:3306"), "fe80::1%eth0");
  EXPECT_EQ(certified_host_of("[fe80::1%eth0]:3306"), "fe80::1");
  EXPECT_EQ(certified_host_of("db.example:3306"), "db.example");
}

TEST_F(mysql_address_test, what_is_neither_is_refused) {
  for (const char* const wrong : {"", "db.example", "db.example:", "db.example:x", "db.example:0",
                                  "db.example:65536", ":x", "db.example:3306x"})
    EXPECT_EQ(server_address::parse(wrong).error(), errc::invalid_argument) << wrong;
}

}  // namespace
}  // namespace weft::store::mysql
