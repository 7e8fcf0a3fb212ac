#include <weft/http/request_deadlines.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include <weft/loop/sleep.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using namespace std::chrono_literals;

class request_deadlines_test : public testing::in_memory {
 protected:
  void SetUp() override {
    in_memory::SetUp();
    http().wrap_all(request_deadlines{});
    http().get("/slow", [this]() -> task<result<std::string>> {
      auto slept = co_await sleep_for(loop(), 10s);
      if (!slept) co_return fail(slept.error());
      co_return "done";
    });
    http().get("/left", [this]() -> task<std::string> {
      const deadline until = (co_await this_task::environment()).until;
      if (until.is_never()) co_return "for ever";
      co_return std::to_string((until.when() - loop().now()) / 1ms);
    });
    http().get("/now", [] { return "now"; });
  }

  task<testing::http_reply> ask(std::string_view path, std::string_view field) {
    auto client = co_await world().connect();
    co_return co_await client.ask("GET", path, {}, field);
  }
};

TEST_F(request_deadlines_test, end_what_a_handler_waits_for) {
  run([&]() -> task<void> {
    const time_point begun = loop().now();
    EXPECT_EQ((co_await ask("/slow", "Request-Timeout-Ms: 250\r\n")).status, 504);
    EXPECT_EQ((loop().now() - begun) / 250ms, 1);
    EXPECT_EQ((co_await ask("/slow", "Request-Timeout-Ms: 60000\r\n")).body, "done");
  });
}

TEST_F(request_deadlines_test, are_in_the_environment_of_one_request) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/left", {}, "request-timeout-ms: 250\r\n")).body, "250");
    EXPECT_EQ((co_await client.ask("GET", "/left")).body, "for ever");
    EXPECT_EQ((co_await client.ask("GET", "/now", {}, "Request-Timeout-Ms: 1\r\n")).body, "now");
  });
}

TEST_F(request_deadlines_test, of_no_time_at_all_need_no_handler) {
  run([&]() -> task<void> {
    EXPECT_EQ((co_await ask("/now", "Request-Timeout-Ms: 0\r\n")).status, 504);
  });
}

TEST_F(request_deadlines_test, of_more_than_a_day_are_none_and_of_no_number_wrong) {
  run([&]() -> task<void> {
    for (const std::string_view long_time : {"86400001", "99999999999999999999999"})
      EXPECT_EQ(
          (co_await ask("/left", "Request-Timeout-Ms: " + std::string{long_time} + "\r\n")).body,
          "for ever");
    for (const std::string_view wrong : {"", "-1", "1.5", "1s", "+1"})
      EXPECT_EQ(
          (co_await ask("/left", "Request-Timeout-Ms: " + std::string{wrong} + "\r\n")).status, 400)
          << wrong;
  });
}

}  // namespace
}  // namespace weft::http
