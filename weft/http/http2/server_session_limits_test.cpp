// HTTP/2 where a client's frames cross the server's, where it takes nothing, and where it asks for
// more than may be: in memory, where what is sent at once comes at once, and time is virtual.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/http/body_reader.hpp>
#include <weft/http/body_writer.hpp>
#include <weft/http/http2/http2_peer_test.hpp>
#include <weft/http/request.hpp>
#include <weft/http/response.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/http2_client.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http::http2 {
namespace {

using testing::data_frame;
using testing::head_frame;
using testing::http2_client;
using testing::http2_reply;
using testing::reset_frame;
using testing::to_bytes;
using testing::window_frame;
using namespace std::chrono_literals;

class http2_server_limits : public testing::in_memory {
 protected:
  void serve_http2(const http2_limits& bounds, limits others = {}) {
    others.http2 = bounds;
    serve_within(others);
  }
  void repeat_bodies() {
    http().post("/", [](const request& r) { return std::string{r.body()}; });
    http().post("/size", [](const request& r) { return std::to_string(r.body().size()); });
  }
  void serve_without_end() {
    http().get("/much", [](body_writer& out) -> task<result<void>> {
      for (;;)
        if (auto sent = co_await out.write(std::string(10'000, 'x')); !sent) co_return sent;
    });
  }
  /// As run(), for one of several in a test.
  template <class F>
  void run_again(F body) {
    serve_within({});
    http().get("/", [] { return "here"; });
    run(std::move(body));
  }
  task<net::tcp_stream> connected() { co_return std::move((co_await world().connect()).stream()); }

  /// Begins uploads of which the server lets none come to its end, while an older one gathers.
  static task<std::vector<std::int32_t>> begin_withheld(http2_client& client) {
    std::vector<std::int32_t> all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(client.begin("POST", "/size", {}, false));
      client.give(all.back(), std::string(200'000, 'x'), true);
    }
    co_await client.until([&] {
      return std::ranges::all_of(all, [&](std::int32_t each) {
        return nghttp2_session_get_stream_remote_window_size(client.library(), each) == 0;
      });
    });
    co_return all;
  }
  static task<void> expect_all_gathered(http2_client& client,
                                        const std::vector<std::int32_t>& all) {
    for (const std::int32_t each : all) EXPECT_EQ((co_await client.reply(each)).body, "200000");
  }

  /// All that the client has to send, in one piece.
  static task<void> send_at_once(http2_client& client) {
    std::string all;
    for (const std::uint8_t* part = nullptr;;) {
      const auto size = nghttp2_session_mem_send(client.library(), &part);
      if (size <= 0) break;
      all += text_of(part, static_cast<std::size_t>(size));
    }
    std::ignore = co_await client.stream().write(std::move(all));
  }
};

constexpr http2_limits one_at_a_time{.stream_window_bytes = 65'535,
                                     .connection_window_bytes = 65'535};
/// ":scheme: http", ":path: /", ":authority: a" behind the method, as HPACK has them.
constexpr std::string_view short_get{"\x82\x86\x84\x41\x01\x61", 6};
constexpr std::string_view short_post{"\x83\x86\x84\x41\x01\x61", 6};

TEST_F(http2_server_limits, gathers_the_next_body_however_the_oldest_ends) {
  using ending = void (*)(http2_client&, std::int32_t);
  const ending endings[] = {
      [](http2_client& client, std::int32_t id) { client.give(id, "", true); },
      [](http2_client& client, std::int32_t id) { client.reset(id); },
      [](http2_client&, std::int32_t) {},  // 408
  };
  for (const ending end : endings) {
    serve_http2(one_at_a_time);
    repeat_bodies();
    run([&]() -> task<void> {
      http2_client client{co_await connected()};
      const std::int32_t oldest = client.begin("POST", "/size", {}, false);
      const auto all = co_await begin_withheld(client);
      end(client, oldest);
      co_await expect_all_gathered(client, all);
    });
  }
}

TEST_F(http2_server_limits, gathers_the_next_body_while_the_oldest_is_answered) {
  serve_http2(one_at_a_time);
  repeat_bodies();
  event may_answer;
  http().post("/late", [&](const request&) -> task<std::string> {
    std::ignore = co_await may_answer.wait();
    co_return "late";
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t oldest = client.begin("POST", "/late", {}, false);
    const auto all = co_await begin_withheld(client);
    client.give(oldest, "body", true);
    const time_point began = loop().now();
    co_await expect_all_gathered(client, all);
    EXPECT_LE(loop().now() - began, 1s);
    may_answer.set();
    EXPECT_EQ((co_await client.reply(oldest)).body, "late");
  });
}

TEST_F(http2_server_limits, does_not_call_slow_whose_body_it_withheld) {
  serve_http2(one_at_a_time, {.body_idle_timeout = 1s, .body_bytes_per_second = 60'000});
  repeat_bodies();
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t oldest = client.begin("POST", "/size", {}, false);
    const auto all = co_await begin_withheld(client);
    for (int i = 0; i < 10; ++i) {
      co_await client.until([&] {
        return nghttp2_session_get_stream_remote_window_size(client.library(), oldest) >= 30'000;
      });
      client.give(oldest, std::string(30'000, 'x'), false);
      co_await client.send();
      std::ignore = co_await sleep_for(loop(), 500ms);
    }
    client.give(oldest, "", true);
    EXPECT_EQ((co_await client.reply(oldest)).body, "300000");
    co_await expect_all_gathered(client, all);
  });
}

TEST_F(http2_server_limits, ends_in_time_though_a_window_is_shut) {
  event_loop& turning = loop();
  http().get("/late", [&turning]() -> task<result<std::string>> {
    if (auto slept = co_await sleep_for(turning, 1h); !slept) co_return fail(slept.error());
    co_return "late";
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected(), {.stream_window_bytes = 0}};
    const std::int32_t late = client.begin("GET", "/late");
    co_await client.send();
    const time_point began = loop().now();
    scope stopping{co_await this_task::environment()};
    stopping.spawn([](http::server& http, event_loop& on) -> task<void> {
      environment bounded = co_await this_task::environment();
      bounded.until = deadline::at(on.now() + 20ms);
      EXPECT_TRUE((co_await http.stop().in(bounded)).has_value());
    }(http(), loop()));
    EXPECT_EQ(co_await client.end(), NGHTTP2_NO_ERROR);
    EXPECT_EQ(client.so_far(late).status, 503);
    co_await stopping.join();
    EXPECT_LE(loop().now() - began, 1s);
  });
}

TEST_F(http2_server_limits, passes_over_what_crosses_its_goodbye) {
  limits bounds;
  bounds.requests_per_connection = 1;
  serve_within(bounds);
  repeat_bodies();
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t slow = client.begin("POST", "/", {}, false);
    EXPECT_EQ((co_await client.ask("GET", "/")).body, "here");
    co_await client.send_raw(to_bytes(head_frame(5, short_post)) + to_bytes(data_frame(5, "x")));
    client.give(slow, "the rest", true);
    EXPECT_EQ((co_await client.reply(slow)).body, "the rest");
    EXPECT_EQ(co_await client.end(), NGHTTP2_NO_ERROR);
    EXPECT_EQ(client.last_answered(), 3);
  });
}

TEST_F(http2_server_limits, refuses_streams_beyond_the_limit_and_their_bodies) {
  serve_http2({.concurrent_streams = 2});
  repeat_bodies();
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    std::vector<std::int32_t> all;
    for (int i = 0; i < 3; ++i) {
      all.push_back(client.begin("POST", "/", {}, false));
      client.give(all.back(), "body", true);
    }
    co_await send_at_once(client);
    EXPECT_EQ((co_await client.reply(all[2])).error, NGHTTP2_REFUSED_STREAM);
    EXPECT_EQ((co_await client.reply(all[0])).body, "body");
    EXPECT_EQ((co_await client.reply(all[1])).body, "body");
  });
}

TEST_F(http2_server_limits, sends_replies_of_many_fields_and_resets_those_of_far_too_many) {
  std::size_t fields = 20;
  http().get("/", [&] {
    response answer = response::text("x");
    for (std::size_t i = 0; i < fields; ++i)
      EXPECT_TRUE(answer.add_field("X-Field", std::string(4'000, 'v')));
    return answer;
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const http2_reply large = co_await client.ask("GET", "/");
    EXPECT_EQ(large.status, 200);
    EXPECT_GT(large.head.size(), 80'000U);
    EXPECT_EQ((co_await client.ask("HEAD", "/")).status, 200);
    fields = 300;
    EXPECT_EQ((co_await client.ask("GET", "/")).error, NGHTTP2_INTERNAL_ERROR);
    EXPECT_EQ((co_await client.ask("HEAD", "/")).error, NGHTTP2_INTERNAL_ERROR);
  });
}

TEST_F(http2_server_limits, sends_what_is_urgent_first_and_the_rest_in_turn) {
  constexpr std::size_t size = 200'000;
  http().get("/", [] { return std::string(size, 'x'); });
  run([&]() -> task<void> {
    http2_client client{co_await connected(), {.stream_window_bytes = 10'000'000}};
    co_await client.send_raw(to_bytes(window_frame(0, 10'000'000)));
    const std::int32_t late = client.begin("GET", "/", {{"priority", "u=6"}});
    const std::int32_t one = client.begin("GET", "/");
    const std::int32_t two = client.begin("GET", "/");
    const std::int32_t soon = client.begin("GET", "/", {{"priority", "u=1"}});
    co_await send_at_once(client);
    EXPECT_EQ((co_await client.reply(soon)).body.size(), size);
    EXPECT_LE(client.so_far(one).body.size() + client.so_far(two).body.size(), size / 4);
    EXPECT_EQ((co_await client.reply(one)).body.size(), size);
    EXPECT_GE(client.so_far(two).body.size(), size * 3 / 4);
    EXPECT_EQ((co_await client.reply(two)).body.size(), size);
    EXPECT_LE(client.so_far(late).body.size(), size / 4);
    EXPECT_EQ((co_await client.reply(late)).body.size(), size);
  });
}

TEST_F(http2_server_limits, changes_windows_as_the_client_does) {
  http().get("/", [] { return std::string(100'000, 'x'); });
  run([&]() -> task<void> {
    http2_client client{co_await connected(), {.takes_bodies = false}};
    const std::int32_t id = client.begin("GET", "/");
    co_await client.until([&] { return client.so_far(id).body.size() == 65'535; });
    const nghttp2_settings_entry less{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 10'000};
    nghttp2_submit_settings(client.library(), NGHTTP2_FLAG_NONE, &less, 1);
    nghttp2_submit_window_update(client.library(), NGHTTP2_FLAG_NONE, 0, 100'000);
    nghttp2_submit_window_update(client.library(), NGHTTP2_FLAG_NONE, id, 55'535);
    EXPECT_EQ((co_await client.ask("HEAD", "/")).status, 200);
    EXPECT_EQ(client.so_far(id).body.size(), 65'535U) << "the window has no more than was taken";
    nghttp2_submit_window_update(client.library(), NGHTTP2_FLAG_NONE, id, 34'465);
    EXPECT_EQ((co_await client.reply(id)).body.size(), 100'000U);
  });
}

TEST_F(http2_server_limits, cuts_who_sends_more_than_a_window_holds) {
  serve_http2({.stream_window_bytes = 65'535, .connection_window_bytes = 100'000});
  event never;
  http().post("/", [&](body_reader&) -> task<std::string> {
    std::ignore = co_await never.wait();
    co_return "";
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::string piece(16'000, 'x');
    std::string much = to_bytes(head_frame(1, short_post)) + to_bytes(head_frame(3, short_post));
    for (int i = 0; i < 4; ++i) much += to_bytes(data_frame(1, piece, false));
    co_await client.send_raw(much + to_bytes(data_frame(1, piece, false)));  // of the stream
    for (int i = 0; i < 2; ++i) co_await client.send_raw(to_bytes(data_frame(3, piece, false)));
    EXPECT_EQ(co_await client.end(), NGHTTP2_FLOW_CONTROL_ERROR);
  });
}

TEST_F(http2_server_limits, cuts_who_cancels_on_while_it_takes_nothing) {
  serve_http2({.resets_per_second = 1'000'000, .idle_frames_per_second = 1'000'000});
  serve_without_end();
  run([&]() -> task<void> {
    http2_client client{co_await connected(), {.stream_window_bytes = 100'000'000}};
    client.begin("GET", "/much");
    co_await client.send_raw(to_bytes(window_frame(0, 100'000'000)));
    std::ignore = co_await sleep_for(loop(), 10ms);
    std::string flood;
    for (unsigned id = 3; id < 10'000; id += 2)
      flood +=
          to_bytes(head_frame(id, short_get, true)) + to_bytes(reset_frame(id, NGHTTP2_CANCEL));
    co_await client.send_raw(flood);
    std::ignore = co_await sleep_for(loop(), 10ms);
    EXPECT_EQ(co_await client.end(), NGHTTP2_ENHANCE_YOUR_CALM);
    const telemetry::snapshot seen = world().metrics().read();
    const auto* const cut = seen.find("http2_connections_cut_total", {{"reason", "resets"}});
    EXPECT_TRUE(cut != nullptr && cut->value == 1);
  });
}

TEST_F(http2_server_limits, refuses_a_head_that_is_too_long_without_a_body) {
  limits bounds;
  bounds.head_bytes = 2'000;
  serve_within(bounds);
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::string target = "/" + std::string(3'000, 'x');
    const http2_reply answer = co_await client.ask("HEAD", target);
    EXPECT_EQ(answer.status, 431);
    EXPECT_EQ(answer.body, "");
    EXPECT_NE((co_await client.ask("GET", target)).body, "");
  });
}

/// More than 64 KiB, in Huffman's code as well.
std::string huge_text() { return std::string(100'000, 'x'); }

TEST_F(http2_server_limits, answers_a_huge_field_and_ends_in_order) {
  const std::string huge = huge_text();
  const http2_client::fields offenders[] = {{{"x", huge}}, {{huge, "x"}}, {{"cookie", huge}}};
  for (const http2_client::fields& each : offenders)
    run_again([&]() -> task<void> {
      http2_client client{co_await connected()};
      EXPECT_EQ((co_await client.ask("GET", "/")).body, "here");
      const http2_reply answer = co_await client.ask("GET", "/", {}, each);
      EXPECT_EQ(answer.status, 431);
      EXPECT_EQ(answer.field("content-type"), "application/problem+json");
      EXPECT_EQ(co_await client.end(), NGHTTP2_NO_ERROR);
      EXPECT_EQ(client.last_answered(), 3);
    });
}

TEST_F(http2_server_limits, answers_a_huge_target_and_a_huge_head_with_a_body) {
  repeat_bodies();
  const std::string huge = huge_text();
  run([&]() -> task<void> {
    http2_client first{co_await connected()};
    EXPECT_EQ((co_await first.ask("GET", "/" + huge)).status, 431);
    EXPECT_EQ(co_await first.end(), NGHTTP2_NO_ERROR);
    http2_client second{co_await connected()};
    const std::int32_t id = second.begin("POST", "/", {{"x", huge}}, false);
    second.give(id, "body", true);
    EXPECT_EQ((co_await second.reply(id)).status, 431);
    EXPECT_EQ(co_await second.end(), NGHTTP2_NO_ERROR);
  });
}

TEST_F(http2_server_limits, serves_the_streams_before_a_huge_field_to_their_end) {
  repeat_bodies();
  const std::string huge = huge_text();
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t slow = client.begin("POST", "/", {}, false);
    client.give(slow, "first ", false);
    co_await client.send();
    EXPECT_EQ((co_await client.ask("GET", "/", {}, {{"x", huge}})).status, 431);
    client.give(slow, "second", true);
    const http2_reply answer = co_await client.reply(slow);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "first second");
    EXPECT_EQ(co_await client.end(), NGHTTP2_NO_ERROR);
  });
}

TEST_F(http2_server_limits, takes_trailers_behind_a_huge_field_for_the_end_of_a_body) {
  repeat_bodies();
  const std::string huge = huge_text();
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t slow = client.begin("POST", "/", {}, false);
    client.give(slow, "body", false);
    co_await client.send();
    EXPECT_EQ((co_await client.ask("GET", "/", {}, {{"x", huge}})).status, 431);
    // Whatever they say, which nobody can read any more.
    co_await client.send_raw(to_bytes(head_frame(static_cast<unsigned>(slow), "\xff\xff", true)));
    EXPECT_EQ((co_await client.reply(slow)).body, "body");
    EXPECT_EQ(co_await client.end(), NGHTTP2_NO_ERROR);
  });
}

TEST_F(http2_server_limits, ends_in_order_behind_a_huge_field_of_trailers) {
  repeat_bodies();
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t slow = client.begin("POST", "/", {}, false);
    client.give(slow, "body", false);
    co_await client.send();
    const std::string field =
        std::string{"\x00\x01x\x7f\xa1\x8c\x06", 7} + std::string(10'000, 'x');
    co_await client.send_raw(
        to_bytes({NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, static_cast<unsigned>(slow), field}));
    EXPECT_EQ((co_await client.reply(slow)).error, NGHTTP2_ENHANCE_YOUR_CALM);
    EXPECT_EQ(co_await client.end(), NGHTTP2_NO_ERROR);
  });
}

TEST_F(http2_server_limits, tells_a_huge_field_from_nonsense) {
  const std::string_view nonsense[] = {
      {"\xff\xff\xff\xff\xff\x7f", 6},           // an index that is none
      {"\x40\x01x\x7f\xff\xff\xff\xff\x7f", 9},  // a length that no decoder reads
      {"\x40\x01x\x7f\x10", 5},                  // a value that is cut off
      {"\x3f\xff\xff\xff\x07", 5},               // a table larger than was allowed
  };
  for (const std::string_view each : nonsense)
    run_again([&]() -> task<void> {
      http2_client client{co_await connected()};
      const std::string section = std::string{short_get} + std::string{each};
      co_await client.send_raw(to_bytes(head_frame(1, section, true)));
      EXPECT_EQ(co_await client.end(), NGHTTP2_COMPRESSION_ERROR);
    });
}

TEST_F(http2_server_limits, counts_a_stream_that_breaks_the_protocol_once) {
  serve_http2({.resets_per_second = 1});  // ten at once
  repeat_bodies();
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    for (int i = 0; i < 8; ++i) {
      const std::int32_t id = client.begin("POST", "/", {}, false);
      co_await client.send_raw(to_bytes(window_frame(static_cast<unsigned>(id), 0x7fffffffU)));
      EXPECT_EQ((co_await client.reply(id)).error, NGHTTP2_FLOW_CONTROL_ERROR);
    }
    EXPECT_EQ((co_await client.ask("POST", "/", "body")).body, "body");
  });
}

/// An end takes no window, also where others' bodies wait for theirs.
TEST_F(http2_server_limits, ends_replies_that_have_left_while_the_window_is_shut) {
  event may_end;
  http().get("/much", [] { return std::string(100'000, 'x'); });
  http().get("/little", [&](body_writer& out) -> task<result<void>> {
    if (auto sent = co_await out.write("little"); !sent) co_return sent;
    co_return co_await may_end.wait();
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected(),
                        {.stream_window_bytes = 100'000, .takes_bodies = false}};
    const std::int32_t little = client.begin("GET", "/little");
    co_await client.until([&] { return client.so_far(little).body == "little"; });
    const std::int32_t much = client.begin("GET", "/much");
    co_await client.until([&] { return client.so_far(much).body.size() == 65'535 - 6; });
    may_end.set();
    co_await client.until([&] { return client.so_far(little).is_whole; });
    EXPECT_TRUE(client.so_far(little).is_whole);
    EXPECT_FALSE(client.so_far(much).is_whole);
    nghttp2_submit_window_update(client.library(), NGHTTP2_FLAG_NONE, 0, 100'000);
    EXPECT_EQ((co_await client.reply(much)).body.size(), 100'000U);
  });
}

/// Who resets what is worked for, and asks for more, is refused, and not for ever.
TEST_F(http2_server_limits, counts_refusals_of_streams_that_are_worked_for) {
  serve_http2({.concurrent_streams = 1, .resets_per_second = 1});  // ten at once
  event may_end;
  http().get("/", [&]() -> task<std::string> {
    const auto wait = [&]() -> task<void> { std::ignore = co_await may_end.wait(); };
    co_await wait().in(environment{.runs_on = &loop()});  // whoever asks it to stop
    co_return "";
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    for (unsigned id = 1; id <= 3; id += 2)
      co_await client.send_raw(to_bytes(head_frame(id, short_get, true)) +
                               to_bytes(reset_frame(id, NGHTTP2_CANCEL)));
    std::string more;
    for (unsigned id = 5; id < 100; id += 2) more += to_bytes(head_frame(id, short_get, true));
    co_await client.send_raw(more);
    scope later{co_await this_task::environment()};
    later.spawn([](event_loop& on, event& ended) -> task<void> {
      std::ignore = co_await sleep_for(on, 100ms);
      ended.set();
    }(loop(), may_end));
    EXPECT_EQ(co_await client.end(), NGHTTP2_ENHANCE_YOUR_CALM);
    co_await later.join();
  });
}

/// A warning that none is answered any more says no more than what was said before it.
TEST_F(http2_server_limits, says_its_goodbye_once) {
  serve_within({.requests_per_connection = 1});
  repeat_bodies();
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t slow = client.begin("POST", "/", {}, false);
    EXPECT_EQ((co_await client.ask("GET", "/")).body, "here");
    co_await client.until([&] { return client.goaway().has_value(); });
    EXPECT_EQ(client.last_answered(), 3);
    scope stopping{co_await this_task::environment()};
    stopping.spawn([](http::server& http) -> task<void> {
      EXPECT_TRUE((co_await http.stop()).has_value());
    }(http()));
    co_await yield{loop()};
    client.give(slow, "the rest", true);
    EXPECT_EQ((co_await client.reply(slow)).body, "the rest");
    EXPECT_EQ(co_await client.end(), NGHTTP2_NO_ERROR);
    EXPECT_EQ(client.last_answered(), 3);
    co_await stopping.join();
  });
}

/// As long as one takes a little now and then it is waited for, but not once its connection is
/// over.
TEST_F(http2_server_limits, forgets_who_takes_little_and_is_cut) {
  serve_within({.write_stall_timeout = 1s});
  serve_without_end();
  run([&]() -> task<void> {
    http2_client client{co_await connected(), {.stream_window_bytes = 100'000'000}};
    client.begin("GET", "/much");
    co_await client.send_raw(to_bytes(window_frame(0, 100'000'000)));
    const auto take_little = [&](duration meanwhile) -> task<void> {
      for (const time_point until = loop().now() + meanwhile; loop().now() < until;) {
        std::ignore = co_await sleep_for(loop(), 400ms);
        std::ignore = co_await client.stream().read();
      }
    };
    co_await take_little(3s);
    EXPECT_EQ(http().connections(), 1U);
    co_await client.send_raw(to_bytes(window_frame(0, 0)));  // which must not be
    co_await take_little(1'600ms);
    EXPECT_EQ(http().connections(), 0U);
  });
}

}  // namespace
}  // namespace weft::http::http2
