#include <weft/http/access_log.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using std::chrono::milliseconds;

class access_log_test : public testing::in_memory {
 protected:
  [[nodiscard]] access_log log(access_format how) {
    return {loop(), [this](std::string_view line) { lines_.emplace_back(line); }, how};
  }
  /// The lines, without what depends on the time of the test.
  [[nodiscard]] std::vector<std::string> lines() {
    std::vector<std::string> all = lines_;
    for (std::string& each : all)
      each.erase(each.find(" ["), each.find("] ") - each.find(" [") + 1);
    return all;
  }
  std::vector<std::string> lines_;
};

TEST_F(access_log_test, has_a_line_for_each_reply) {
  http().wrap_all(log(access_format::combined));
  http().get("/a", [] { return "12345"; });
  http().get("/late", [this]() -> task<std::string> {
    co_await world().sleep(milliseconds{7});
    co_return "late";
  });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.ask("GET", "/a?b=c", {}, "User-Agent: test\r\nReferer: http://x/\r\n");
    EXPECT_EQ(lines_.size(), 1U) << "when the reply has been given";
    co_await client.ask("HEAD", "/a");
    co_await client.ask("DELETE", "/nowhere");
    EXPECT_EQ((co_await client.ask("GET", "/late")).body, "late");
  });
  ASSERT_EQ(lines().size(), 4U);
  EXPECT_EQ(lines()[0], "127.0.0.1 - - \"GET /a?b=c HTTP/1.1\" 200 5 \"http://x/\" \"test\" 0\n");
  EXPECT_EQ(lines()[1], "127.0.0.1 - - \"HEAD /a HTTP/1.1\" 200 0 \"-\" \"-\" 0\n");
  EXPECT_TRUE(lines()[2].starts_with("127.0.0.1 - - \"DELETE /nowhere HTTP/1.1\" 404 "));
  EXPECT_EQ(lines()[3], "127.0.0.1 - - \"GET /late HTTP/1.1\" 200 4 \"-\" \"-\" 7000\n");
}

TEST_F(access_log_test, sees_what_those_inside_of_it_refuse) {
  http().wrap_all(log(access_format::json));
  http().wrap_all([](exchange& e, handler&) { e.reply_problem(status::forbidden, "no"); });
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.ask("GET", "/");
  });
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_NE(lines_[0].find("403"), std::string::npos) << lines_[0];
  EXPECT_NE(lines_[0].find("\"127.0.0.1\""), std::string::npos) << lines_[0];
}

}  // namespace
}  // namespace weft::http
