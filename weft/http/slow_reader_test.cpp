// Clients that take their replies too slowly, in virtual time.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <weft/http/body_writer.hpp>
#include <weft/http/http2/http2_peer_test.hpp>
#include <weft/http/request.hpp>
#include <weft/http/response.hpp>
#include <weft/http/send_pace.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/http2_client.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using namespace std::chrono_literals;
using testing::http2_client;

TEST(send_pace, first_notes_and_then_judges) {
  const limits bounds{.write_stall_timeout = 8s, .reply_bytes_per_second = 100};
  send_pace pace;
  EXPECT_EQ(pace.until_look(bounds), 1s);
  pace.note_wait(400ms);
  EXPECT_EQ(pace.until_look(bounds), 600ms) << "of waiting, in however many waits";
  EXPECT_TRUE(pace.look(5, bounds)) << "nothing is known of it yet";
  EXPECT_EQ(pace.until_look(bounds), 8s);
  EXPECT_TRUE(pace.look(805, bounds));
  EXPECT_FALSE(pace.look(1'604, bounds));
}

TEST(send_pace, what_was_taken_fast_does_not_count_for_later) {
  const limits bounds{.write_stall_timeout = 8s, .reply_bytes_per_second = 100};
  send_pace pace;
  EXPECT_TRUE(pace.look(0, bounds));
  EXPECT_TRUE(pace.look(1'000'000'000, bounds));
  EXPECT_FALSE(pace.look(1'000'000'001, bounds));
}

TEST(send_pace, a_rate_of_zero_wants_a_byte) {
  const limits bounds{.write_stall_timeout = 8s, .reply_bytes_per_second = 0};
  send_pace pace;
  EXPECT_TRUE(pace.look(0, bounds));
  EXPECT_TRUE(pace.look(1, bounds));
  EXPECT_FALSE(pace.look(1, bounds));
}

TEST(send_pace, no_bound_overflows) {
  EXPECT_GT(least_taken(duration::max(), UINT32_MAX), std::size_t{1} << 50U);
  EXPECT_EQ(least_taken(1ms, 1), 1U);
}

constexpr std::size_t much = 4'000'000;

class slow_reader : public testing::in_memory {
 protected:
  void SetUp() override {
    in_memory::SetUp();
    serve_much({});
  }
  void serve_much(const limits& bounds) {
    serve_within(bounds);
    http().get("/whole", [] { return std::string(much, 'w'); });
    http().get("/streamed", [](body_writer& out) -> task<result<void>> {
      for (std::size_t sent = 0; sent < much; sent += 1'000)
        if (auto said = co_await out.write(std::string(1'000, 's')); !said) co_return said;
      co_return {};
    });
  }

  /// Takes 16 KiB every `pause`, from an HTTP/1.1 connection, until it ends or for `longest`. Gives
  /// for how long it was let.
  task<duration> take_slowly(std::string_view path, duration pause, duration longest) {
    auto client = co_await world().connect();
    co_await client.send("GET " + std::string{path} + " HTTP/1.1\r\nHost: a\r\n\r\n");
    const time_point began = loop().now();
    do {
      std::ignore = co_await sleep_for(loop(), pause);
      if ((co_await client.receive()).empty()) break;
    } while (loop().now() < began + longest && http().connections() != 0);
    co_return loop().now() - began;
  }

  task<net::tcp_stream> connected() { co_return std::move((co_await world().connect()).stream()); }
  [[nodiscard]] std::int64_t given_up() {
    const telemetry::snapshot seen = world().metrics().read();
    const telemetry::series* const found = seen.find("http_slow_readers_total");
    return found == nullptr ? -1 : found->value;
  }
};

constexpr std::string_view both_ways[] = {"/whole", "/streamed"};

TEST_F(slow_reader, is_cut_though_it_takes_some_now_and_then) {
  for (const std::string_view path : both_ways) {
    serve_much({.reply_bytes_per_second = 1'000});
    run([&]() -> task<void> {
      const duration let = co_await take_slowly(path, 20s, 20min);  // some 800
      EXPECT_GE(let, 30s) << path;
      EXPECT_LE(let, 90s) << path;
      EXPECT_EQ(http().connections(), 0U) << path;
      EXPECT_EQ(given_up(), 1) << path;
    });
  }
}

TEST_F(slow_reader, is_cut_though_no_wait_for_it_is_long) {
  for (const std::string_view path : both_ways) {
    serve_much({.reply_bytes_per_second = 10'000});
    run([&]() -> task<void> {
      const duration let = co_await take_slowly(path, 3s, 20min);  // some 5,400
      EXPECT_GE(let, 30s) << path;
      EXPECT_LE(let, 90s) << path;
      EXPECT_EQ(given_up(), 1) << path;
    });
  }
}

TEST_F(slow_reader, is_served_at_the_least_rate) {
  for (const std::string_view path : both_ways) {
    serve_much({.reply_bytes_per_second = 500});
    run([&]() -> task<void> {
      EXPECT_GE(co_await take_slowly(path, 20s, 20min), 20min) << path;
      EXPECT_EQ(http().connections(), 1U) << path;
    });
  }
}

TEST_F(slow_reader, that_was_fast_before_is_cut_as_soon) {
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET /whole HTTP/1.1\r\nHost: a\r\n\r\n");
    for (std::size_t taken = 0; taken < much / 2;) taken += (co_await client.receive()).size();
    const time_point began = loop().now();
    std::string one(1, '\0');
    while (http().connections() != 0 && loop().now() < began + 1h) {
      std::ignore = co_await sleep_for(loop(), 1s);
      if (!co_await client.stream().read(std::span{one})) break;
    }
    EXPECT_LE(loop().now() - began, 90s);
  });
}

TEST_F(slow_reader, need_take_but_something_where_the_rate_is_zero) {
  serve_much({.write_stall_timeout = 10min, .reply_bytes_per_second = 0});
  run([&]() -> task<void> {
    EXPECT_GE(co_await take_slowly("/whole", 9min, 10h), 10h);
    EXPECT_EQ(http().connections(), 1U);
  });
}

/// Over HTTP/2 the client need not read slowly: it opens its windows slowly.
class slow_window : public slow_reader {
 protected:
  /// Opens the window of `stream` by so much every `pause`, until a stream is reset or for an hour.
  task<duration> open_slowly(http2_client& client, std::int32_t asked, std::int32_t stream,
                             std::int32_t size_bytes, duration pause) {
    if (stream != 0) nghttp2_submit_window_update(client.library(), 0, 0, 100'000'000);
    const time_point began = loop().now();
    scope reading{co_await this_task::environment()};
    reading.spawn([](http2_client& c, std::int32_t id) -> task<void> {
      co_await c.until([&] { return c.so_far(id).error.has_value(); });
    }(client, asked));
    while (!client.so_far(asked).error && loop().now() < began + 1h) {
      nghttp2_submit_window_update(client.library(), 0, stream, size_bytes);
      co_await client.send();
      std::ignore = co_await sleep_for(loop(), pause);
    }
    reading.request_stop();
    co_await reading.join();
    co_return loop().now() - began;
  }
};

TEST_F(slow_window, of_a_stream_opened_byte_by_byte_ends_the_stream) {
  for (const std::string_view path : both_ways) {
    serve_much({});
    run([&]() -> task<void> {
      http2_client client{co_await connected(),
                          {.stream_window_bytes = 20'000, .takes_bodies = false}};
      const std::int32_t asked = client.begin("GET", path);
      EXPECT_LE(co_await open_slowly(client, asked, asked, 1, 20s), 3min) << path;
      EXPECT_EQ(http().connections(), 1U) << "the others go on";
    });
  }
}

TEST_F(slow_window, of_a_connection_opened_byte_by_byte_ends_the_stream) {
  for (const std::string_view path : both_ways) {
    serve_much({});
    run([&]() -> task<void> {
      http2_client client{co_await connected(),
                          {.stream_window_bytes = 100'000'000, .takes_bodies = false}};
      const std::int32_t asked = client.begin("GET", path);
      EXPECT_LE(co_await open_slowly(client, asked, 0, 1, 20s), 3min) << path;
    });
  }
}

TEST_F(slow_reader, of_http2_is_cut_though_no_wait_for_it_is_long) {
  for (const std::string_view path : both_ways) {
    serve_much({.reply_bytes_per_second = 10'000});
    run([&]() -> task<void> {
      http2_client client{co_await connected(), {.stream_window_bytes = 100'000'000}};
      client.begin("GET", path);
      nghttp2_submit_window_update(client.library(), 0, 0, 100'000'000);
      co_await client.send();
      const time_point began = loop().now();
      do {
        std::ignore = co_await sleep_for(loop(), 3s);
        if (!co_await client.stream().read()) break;  // some 5,400 a second
      } while (http().connections() != 0 && loop().now() < began + 20min);
      EXPECT_GE(loop().now() - began, 30s) << path;
      EXPECT_LE(loop().now() - began, 90s) << path;
      EXPECT_GE(given_up(), 1) << path << ": its stream may count as well";
    });
  }
}

TEST_F(slow_window, at_the_least_rate_is_served) {
  for (const std::string_view path : both_ways) {
    serve_much({});
    run([&]() -> task<void> {
      http2_client client{co_await connected(),
                          {.stream_window_bytes = 20'000, .takes_bodies = false}};
      const std::int32_t asked = client.begin("GET", path);
      EXPECT_GE(co_await open_slowly(client, asked, asked, 2'500, 10s), 1h) << path;
    });
  }
}

}  // namespace
}  // namespace weft::http
