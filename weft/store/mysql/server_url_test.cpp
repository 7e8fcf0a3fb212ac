#include <weft/store/mysql/server_url.hpp>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace weft::store::mysql {
namespace {

/// "USER at ADDRESS has DATABASE,DATABASE", or what is wrong.
std::string read_url(std::string_view text) {
  const auto made = read_server_url(text);
  if (!made) return made.error();
  std::string databases;
  for (const std::string& each : made->databases)
    databases += (databases.empty() ? "" : ",") + each;
  return made->user + " at " + made->address + " has " + databases;
}

TEST(mysql_server_url, says_where_and_who_and_what) {
  EXPECT_EQ(read_url("mysql://shop@db.example:3307/shop,archive"),
            "shop at db.example:3307 has shop,archive");
  EXPECT_EQ(read_url("mysql://db.example"), " at db.example:3306 has ");
  EXPECT_EQ(read_url("a@b@db/x"), "a@b at db:3306 has x");
  EXPECT_EQ(read_url("shop@[::1]/shop"), "shop at [::1]:3306 has shop");
  EXPECT_EQ(read_url("[::1]:5"), " at [::1]:5 has ");
  EXPECT_EQ(read_url("127.0.0.1/"), " at 127.0.0.1:3306 has ");
  EXPECT_EQ(read_url("unix:/run/a@b/socket"), " at unix:/run/a@b/socket has ");
}

TEST(mysql_server_url, refuses_what_is_none_and_shows_no_password) {
  for (const char* const text : {"", "mysql://", "db:port", "db:0", "db:99999", ":3306", "a@"})
    EXPECT_TRUE(read_url(text).ends_with("unix:/run/mysqld/mysqld.sock")) << read_url(text);
  const std::string told = read_url("shop:hunter2@db");
  EXPECT_TRUE(told.starts_with("a password is not written here")) << told;
  EXPECT_EQ(told.find("hunter2"), std::string::npos);
  EXPECT_FALSE(read_url("mysql://shop:hun/ter2@db/x").contains("ter2"));
}

}  // namespace
}  // namespace weft::store::mysql
