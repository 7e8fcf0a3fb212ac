// The times among the limits, chosen: that they are obeyed as they stand is tested with
// connections, the counts of bytes and fields by the conformance cases.
#include <weft/http/limits.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class chosen_limits : public testing::in_memory {
 protected:
  void serve(const limits& bounds) {
    serve_within(bounds);
    http().get("/", [] { return "hello"; });
    http().post("/size", [](const request& asked) { return asked.body().size(); });
    http().get("/large", [] { return std::string(500'000, 'b'); });
    http().get("/slow", [this]() -> task<result<std::string>> {
      const auto slept = co_await sleep_for(loop(), seconds{60});
      if (!slept) co_return fail(slept.error());
      co_return "slept";
    });
  }

  /// What `bytes` are answered with, and that it is after `after`.
  task<void> expect_answer(std::string_view bytes, int status, duration after) {
    auto client = co_await world().connect();
    const time_point began = loop().now();
    co_await client.send(bytes);
    EXPECT_EQ((co_await client.reply()).status, status);
    EXPECT_GE(loop().now() - began, after);
    EXPECT_LT(loop().now() - began, after + milliseconds{10});
  }
};

TEST_F(chosen_limits, header_timeout) {
  serve({.header_timeout = seconds{1}});
  run([&]() -> task<void> { co_await expect_answer("GET / HT", 408, seconds{1}); });
}

TEST_F(chosen_limits, body_idle_timeout) {
  serve({.body_idle_timeout = seconds{2}});
  run([&]() -> task<void> {
    const std::string head = "POST /size HTTP/1.1\r\nHost: a\r\n";
    co_await expect_answer(head + "Content-Length: 2000\r\n\r\n" + std::string(1'500, 'b'), 408,
                           seconds{2});
    co_await expect_answer(head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", 408, seconds{2});
  });
}

TEST_F(chosen_limits, handler_timeout) {
  serve({.handler_timeout = seconds{3}});
  run([&]() -> task<void> {
    co_await expect_answer("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n", 503, seconds{3});
  });
}

TEST_F(chosen_limits, keep_alive_timeout) {
  serve({.keep_alive_timeout = seconds{4}});
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    EXPECT_EQ((co_await client.ask("GET", "/")).status, 200);
    const time_point began = loop().now();
    EXPECT_EQ(co_await client.rest(), "") << "closed without a word";
    EXPECT_EQ(client.last_error(), errc::closed);
    EXPECT_GE(loop().now() - began, seconds{4});
    EXPECT_LT(loop().now() - began, milliseconds{4'010});
  });
}

TEST_F(chosen_limits, write_stall_timeout) {
  serve({.write_stall_timeout = seconds{5}});
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send(testing::repeated("GET /large HTTP/1.1\r\nHost: a\r\n\r\n", 3));
    co_await world().sleep(milliseconds{4'900});
    EXPECT_EQ(http().connections(), 1U);
    co_await world().sleep(seconds{11});
    EXPECT_EQ(http().connections(), 0U);
  });
}

}  // namespace
}  // namespace weft::http
