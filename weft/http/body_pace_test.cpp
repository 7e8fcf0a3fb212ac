#include <weft/http/body_pace.hpp>
#include <weft/base/format.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::http_reply;

TEST(body_pace, earns_time_by_bytes) {
  const limits bounds{.body_idle_timeout = seconds{5}, .body_bytes_per_second = 100};
  const time_point began{};
  const body_pace pace{began, bounds};
  EXPECT_EQ(pace.due(began, 0), began + seconds{5});
  EXPECT_EQ(pace.due(began + seconds{4}, 50), began + milliseconds{5'500});
  EXPECT_EQ(pace.due(began + seconds{4}, 10'000), began + seconds{9})
      << "no more than the idle time";
  EXPECT_EQ(pace.due(began + seconds{4}, UINT64_MAX), began + seconds{9}) << "no overflow";
}

TEST(body_pace, of_zero_is_no_bound) {
  const limits bounds{.body_idle_timeout = seconds{5}, .body_bytes_per_second = 0};
  const body_pace pace{time_point{}, bounds};
  EXPECT_EQ(pace.due(time_point{} + seconds{100}, 1), time_point{} + seconds{105});
}

/// A piece every so often, in memory, whose time is virtual.
class slow_body : public testing::in_memory {
 protected:
  void SetUp() override {
    in_memory::SetUp();
    serve({});
  }
  void serve(const limits& bounds) {
    serve_within(bounds);
    http().post("/size", [](const request& asked) { return asked.body().size(); });
  }

  /// `count` pieces of `bytes`, one each `every`, unless the reply comes before.
  task<void> send(std::string_view framing, std::size_t bytes, std::size_t count, duration every) {
    answer_ = {};
    auto client = co_await world().connect();
    began_ = loop().now();
    std::string head = "POST /size HTTP/1.1\r\nHost: a\r\n";
    std::string piece(bytes, 'b');
    if (framing == "chunked") {
      head += "Transfer-Encoding: chunked\r\n\r\n";
      piece = weft::format("{:x}\r\n{}\r\n", bytes, piece);
    } else {
      head += weft::format("Content-Length: {}\r\n\r\n", bytes * count);
    }
    co_await client.send(head);
    loop().spawn(hear(client));
    for (std::size_t i = 0; i < count && answer_.status == 0; ++i) {
      co_await world().sleep(every);
      co_await client.send(piece);
    }
    if (framing == "chunked") co_await client.send("0\r\n\r\n");
    while (answer_.status == 0) co_await world().sleep(milliseconds{100});
  }

  task<void> hear(testing::http_client& client) {
    answer_ = co_await client.reply();
    took_ = loop().now() - began_;
  }

  void expect_refused(duration after) const {
    EXPECT_EQ(answer_.status, 408);
    EXPECT_EQ(answer_.field("Connection"), "close");
    EXPECT_GE(took_, after - milliseconds{10});
    EXPECT_LE(took_, after + milliseconds{10});
  }

  http_reply answer_;
  time_point began_;
  duration took_{};
};

constexpr std::array both_framings = {"length", "chunked"};

TEST_F(slow_body, is_refused_though_never_idle) {
  run([&]() -> task<void> {
    co_await send("length", 1, 60, seconds{1});
    expect_refused(milliseconds{5'021});  // five bytes have earned 21 ms
    co_await send("chunked", 1, 60, seconds{1});
    expect_refused(milliseconds{5'125});  // each is six on the wire
  });
}

TEST_F(slow_body, is_refused_below_the_average) {
  run([&]() -> task<void> {
    co_await send("length", 110, 600, seconds{1});
    expect_refused(milliseconds{8'667});  // 5 s and 8 * 110 / 240
    co_await send("chunked", 104, 600, seconds{1});
    expect_refused(milliseconds{8'667});  // each is 110 on the wire
  });
}

TEST_F(slow_body, is_taken_at_the_average_however_long_it_takes) {
  run([&]() -> task<void> {
    for (const char* framing : both_framings) {
      co_await send(framing, 240, 600, seconds{1});
      EXPECT_EQ(answer_.body, "144000") << framing;
    }
  });
}

TEST_F(slow_body, may_begin_late) {
  run([&]() -> task<void> {
    for (const char* framing : both_framings) {
      co_await send(framing, 2'400, 2, milliseconds{4'900});
      EXPECT_EQ(answer_.body, "4800") << framing;
    }
  });
}

TEST_F(slow_body, is_taken_where_there_is_no_bound) {
  serve({.body_bytes_per_second = 0});
  run([&]() -> task<void> {
    for (const char* framing : both_framings) {
      co_await send(framing, 1, 20, seconds{4});
      EXPECT_EQ(answer_.body, "20") << framing;
    }
  });
}

TEST_F(slow_body, has_a_grace_of_one_idle_time) {
  serve({.body_idle_timeout = seconds{2}, .body_bytes_per_second = 1'000});
  run([&]() -> task<void> {
    co_await send("length", 400, 60, seconds{1});
    expect_refused(milliseconds{2'800});  // 2 s and 2 * 400 / 1000
  });
}

}  // namespace
}  // namespace weft::http
