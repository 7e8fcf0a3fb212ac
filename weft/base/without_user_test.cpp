#include <weft/base/without_user.hpp>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(without_user, hides_who_is_named_in_a_url) {
  EXPECT_EQ(without_user("http://ann:hunter2@db.test/x"), "http://***@db.test/x");
  EXPECT_EQ(without_user("http://ann:hun/ter2@db.test"), "http://***@db.test");
  EXPECT_EQ(without_user("ann:hunter2@db.test"), "***@db.test");
  EXPECT_EQ(without_user("http://hun@ter2@db.test"), "http://***@db.test");
  EXPECT_EQ(without_user("http://[::1]:80/a?to=ann@db.test"), "http://[::1]:80/a?to=ann@db.test");
  EXPECT_EQ(without_user("http://db.test/a@b"), "http://db.test/a@b");
  EXPECT_EQ(without_user("nonsense"), "nonsense");
  EXPECT_EQ(without_user(""), "");
}

TEST(without_password, shows_users_that_are_no_secret) {
  EXPECT_EQ(without_password("http://ann:hunter2@proxy.test:3128"), "http://***@proxy.test:3128");
  EXPECT_EQ(without_password("https://token@proxy.test"), "https://***@proxy.test");
  EXPECT_EQ(without_password("mysql://ann:hunter2@db.test/shop"), "mysql://***@db.test/shop");
  EXPECT_EQ(without_password("mysql://ann:hun/ter2@db.test"), "mysql://***@db.test");
  EXPECT_EQ(without_password("mysql://ann@db.test/shop"), "mysql://ann@db.test/shop");
  EXPECT_EQ(without_password("http://proxy.test:3128"), "http://proxy.test:3128");
  EXPECT_EQ(without_password("ann@db.test"), "ann@db.test");
  EXPECT_EQ(without_password("{a: b@c}"), "{a: b@c}");
}

}  // namespace
}  // namespace weft
