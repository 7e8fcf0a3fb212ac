#include <weft/http/http2/inbound_window.hpp>

#include <gtest/gtest.h>

namespace weft::http::http2 {
namespace {

TEST(http2_inbound_window, lets_come_what_it_has_and_tells_of_halves) {
  inbound_window window{100};
  EXPECT_TRUE(window.take(100));
  EXPECT_FALSE(window.take(1));
  EXPECT_EQ(window.give_back(49), 0U);
  EXPECT_FALSE(window.take(1)) << "the client has not been told yet";
  EXPECT_EQ(window.give_back(1), 50U);
  EXPECT_TRUE(window.take(50));
  EXPECT_FALSE(window.take(1));
  EXPECT_TRUE(window.take(0));
  EXPECT_EQ(window.give_back(0), 0U);
}

TEST(http2_inbound_window, changes_with_what_has_come) {
  inbound_window window{100};
  EXPECT_TRUE(window.take(80));
  window.resize(50);  // 30 less than nothing
  EXPECT_FALSE(window.take(1));
  EXPECT_TRUE(window.take(0)) << "what is empty needs none";
  EXPECT_EQ(window.give_back(25), 25U);
  EXPECT_FALSE(window.take(1));
  EXPECT_EQ(window.give_back(55), 55U);
  EXPECT_TRUE(window.take(50));
  EXPECT_FALSE(window.take(1));
  window.resize(200);
  EXPECT_TRUE(window.take(150));
}

}  // namespace
}  // namespace weft::http::http2
