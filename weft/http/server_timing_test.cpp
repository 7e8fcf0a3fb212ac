#include <weft/http/server_timing.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <tuple>

#include <weft/loop/sleep.hpp>
#include <weft/testing/http_fixture.hpp>

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

class server_timing_test : public testing::in_memory {};

TEST_F(server_timing_test, of_a_middleware_is_the_time_to_the_reply) {
  http().wrap_all(server_timing{});
  http().get("/now", [] { return "now"; });
  http().get("/late", [this]() -> task<std::string> {
    std::ignore = co_await sleep_for(loop(), 250ms);
    co_return "late";
  });
  http().get("/knows", [] {
    response own = response::text("own");
    std::ignore = own.add_field("Server-Timing", "db;dur=1.000");
    return own;
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/now")).field("server-timing"), "total;dur=0.000");
    const auto late = co_await client.ask("GET", "/late");
    EXPECT_EQ(late.field("server-timing")->substr(0, 13), "total;dur=250");
    EXPECT_EQ((co_await client.ask("GET", "/nowhere")).field("server-timing"), "total;dur=0.000");
    co_await client.send("GET /knows HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string both = co_await client.receive();
    EXPECT_NE(both.find("Server-Timing: total;dur=0.000\r\n"), std::string::npos) << both;
    EXPECT_NE(both.find("Server-Timing: db;dur=1.000\r\n"), std::string::npos) << both;
  });
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
