#include <weft/http/server_timing.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace weft::http {
namespace {

using namespace std::chrono_literals;

TEST(server_timing, is_a_list_of_names_lengths_and_descriptions) {
  std::string value;
  ASSERT_TRUE(append_server_timing(value, "db", 1'234'567ns));
  ASSERT_TRUE(append_server_timing(value, "cache", std::nullopt, R"(a "hit"\)"));
  ASSERT_TRUE(append_server_timing(value, "all", 2h, "total"));
  ASSERT_TRUE(append_server_timing(value, "back", -1ns));
  EXPECT_EQ(value, R"(db;dur=1.234, cache;desc="a \"hit\"\\", all;dur=7200000.000;desc="total", )"
                   "back;dur=0.000");
}

TEST(server_timing, refuses_what_would_break_the_field) {
  std::string value = "a";
  for (std::string_view name : {"", "a b", "a;b", "a,b", "a\r\nb"})
    EXPECT_EQ(append_server_timing(value, name, 1ms).error(), errc::invalid_argument) << name;
  EXPECT_FALSE(append_server_timing(value, "b", 1ms, "x\r\nSet-Cookie: c=d"));
  EXPECT_EQ(value, "a");
}

}  // namespace
}  // namespace weft::http
