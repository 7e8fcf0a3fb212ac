// HTTP/2 as clients see it. What is asked and answered is HTTP/1.1's own tests' matter: here is
// what carries it.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/http/access_log.hpp>
#include <weft/http/server_timing.hpp>
#include <weft/testing/http2_client.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http::http2 {
namespace {

using testing::backend_name;
using testing::backends;
using testing::each_backend;
using testing::http2_client;
using testing::http2_reply;
using testing::repeated;

class http2_server : public each_backend {
 protected:
  void serve_http2(const http2_limits& bounds, limits others = {}) {
    others.http2 = bounds;
    serve_within(others);
  }
  task<net::tcp_stream> connected() { co_return std::move((co_await world().connect()).stream()); }
  void expect_cut(std::optional<std::uint32_t> told, std::string_view reason) {
    EXPECT_EQ(told, NGHTTP2_ENHANCE_YOUR_CALM);
    const telemetry::snapshot seen = world().metrics().read();
    const auto* const cut = seen.find("http2_connections_cut_total", {{"reason", reason}});
    ASSERT_NE(cut, nullptr);
    EXPECT_EQ(cut->value, 1) << reason;
  }
};
INSTANTIATE_TEST_SUITE_P(on, http2_server, backends, backend_name);

TEST_P(http2_server, answers_a_request) {
  http().get("/hello", [] { return "hello"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const http2_reply answer = co_await client.ask("GET", "/hello");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "hello");
    EXPECT_EQ(answer.field("content-length"), "5");
    EXPECT_EQ(answer.field("content-type"), "text/plain; charset=utf-8");
    EXPECT_TRUE(answer.field("date").has_value());
    EXPECT_FALSE(answer.field("connection").has_value());
  });
}

TEST_P(http2_server, answers_many_at_once_in_any_order) {
  event_loop& turning = loop();
  http().get("/now", [] { return "now"; });
  http().get("/late", [&turning]() -> task<std::string> {
    std::ignore = co_await sleep_for(turning, std::chrono::milliseconds{20});
    co_return "late";
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t late = client.begin("GET", "/late");
    const std::int32_t now = client.begin("GET", "/now");
    EXPECT_EQ((co_await client.reply(now)).body, "now");
    EXPECT_FALSE(client.so_far(late).error.has_value());
    EXPECT_EQ((co_await client.reply(late)).body, "late");
  });
}

TEST_P(http2_server, tells_the_handler_what_http_1_would) {
  http().post("/a%20b/{name}", [](const request& r) {
    return std::string{r.header("host").value_or("-")} + "|" + std::string{r.target()} + "|" +
           std::string{r.header("Cookie").value_or("-")} + "|" + std::string{r.scheme()} + "|" +
           std::to_string(r.major_version()) + "|" + std::string{r.body()};
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const http2_reply answer = co_await client.ask(
        "POST", "/a%20b/x?y=z", "body", {{"cookie", "a=1"}, {"cookie", "b=2"}, {"te", "trailers"}});
    EXPECT_EQ(answer.body, "test|/a%20b/x?y=z|a=1; b=2|http|2|body");
  });
}

TEST_P(http2_server, takes_a_body_of_any_length_within_the_limit) {
  limits bounds;
  bounds.body_bytes = 300'000;
  serve_within(bounds);
  http().post("/size", [](const request& r) { return std::to_string(r.body().size()); });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    for (const std::size_t size : {1U, 4'000U, 4'100U, 70'000U, 300'000U}) {
      const std::string body(size, 'x');
      EXPECT_EQ((co_await client.ask("POST", "/size", body)).body, std::to_string(size));
    }
    const std::string length = std::to_string(300'000);
    EXPECT_EQ((co_await client.ask("POST", "/size", std::string(300'000, 'x'),
                                   {{"content-length", length}}))
                  .body,
              length);
  });
}

TEST_P(http2_server, refuses_what_is_too_long_and_goes_on) {
  limits bounds;
  bounds.body_bytes = 10;
  bounds.head_bytes = 2'000;
  serve_within(bounds);
  http().post("/", [](const request& r) { return std::string{r.body()}; });
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    EXPECT_EQ((co_await client.ask("POST", "/", "more than ten")).status, 413);
    EXPECT_EQ(
        (co_await client.ask("POST", "/", "more than ten", {{"content-length", "13"}})).status,
        413);
    EXPECT_EQ((co_await client.ask("GET", "/", {}, {{"x", std::string(2'100, 'x')}})).status, 431);
    EXPECT_EQ((co_await client.ask("GET", "/")).body, "here");
  });
}

TEST_P(http2_server, judges_heads_as_http_1_does) {
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const auto ask = [&](const http2_client::fields& all) -> task<http2_reply> {
      co_return co_await client.reply(client.begin_with(all));
    };
    using fields = http2_client::fields;
    const fields two_hosts{{":method", "GET"},
                           {":scheme", "http"},
                           {":path", "/"},
                           {":authority", "one"},
                           {"host", "two"}};
    EXPECT_EQ((co_await ask(two_hosts)).status, 400);
    const fields no_host{{":method", "GET"}, {":scheme", "http"}, {":path", "/"}};
    EXPECT_EQ((co_await ask(no_host)).error, NGHTTP2_PROTOCOL_ERROR);
    const fields bad_path{
        {":method", "GET"}, {":scheme", "http"}, {":path", "/%zz"}, {":authority", "one"}};
    EXPECT_EQ((co_await ask(bad_path)).status, 400);
    const fields unknown{
        {":method", "BREW"}, {":scheme", "http"}, {":path", "/"}, {":authority", "one"}};
    EXPECT_EQ((co_await ask(unknown)).status, 501);
    const fields tunnel{{":method", "CONNECT"}, {":authority", "one:443"}};
    EXPECT_EQ((co_await ask(tunnel)).status, 501);
    const fields user{
        {":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "me@one"}};
    const http2_reply refused = co_await ask(user);
    EXPECT_TRUE(refused.status == 400 || refused.error == NGHTTP2_PROTOCOL_ERROR);
    for (const auto& [name, value] : fields{{"connection", "close"},
                                            {"transfer-encoding", "chunked"},
                                            {"te", "gzip"},
                                            {"x", "a "},
                                            {":path", "/twice"}}) {
      const http2_reply reset = co_await ask({{":method", "GET"},
                                              {":scheme", "http"},
                                              {":path", "/"},
                                              {":authority", "one"},
                                              {name, value}});
      EXPECT_EQ(reset.status, 0) << name;
      EXPECT_EQ(reset.error, NGHTTP2_PROTOCOL_ERROR) << name;
    }
    for (const std::string_view value : {"a\r\nb", "a\r\nb: c", "a\r\n\r\nb", "a\nb: c", "\x01"})
      EXPECT_EQ((co_await client.ask("GET", "/", {}, {{"x", value}})).status, 400) << value;
    EXPECT_EQ((co_await client.ask("GET", "/")).body, "here");
  });
}

TEST_P(http2_server, resets_who_says_another_length_than_comes) {
  http().post("/whole", [](const request& r) { return std::string{r.body()}; });
  http().post("/pieces", [](body_reader& body) -> task<std::string> {
    std::size_t size = 0;
    while (const auto piece = co_await body.read()) {
      if (piece->empty()) co_return std::to_string(size);
      size += piece->size();
    }
    co_return "broken";
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    for (const std::string_view path : {"/whole", "/pieces"}) {
      for (const std::string_view body : {"123", "12345"}) {
        const http2_reply reset =
            co_await client.ask("POST", path, body, {{"content-length", "4"}});
        EXPECT_EQ(reset.status, 0);
        EXPECT_EQ(reset.error, NGHTTP2_PROTOCOL_ERROR);
      }
      EXPECT_EQ((co_await client.ask("POST", path, "1234", {{"content-length", "4"}})).status, 200);
      EXPECT_EQ((co_await client.ask("POST", path, {}, {{"content-length", "4"}})).error,
                NGHTTP2_PROTOCOL_ERROR);
      EXPECT_EQ((co_await client.ask("POST", path, {}, {{"content-length", "0"}})).status, 200);
    }
  });
}

TEST_P(http2_server, leaves_out_what_means_a_connection_of_http_1) {
  http().wrap_all([](exchange& e, handler& /*next*/) {
    e.reply(status::ok, "text/plain", "x",
            "X-Mixed-Case: Kept\r\nConnection: close\r\nKeep-Alive: timeout=5\r\n");
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const http2_reply answer = co_await client.ask("GET", "/");
    EXPECT_EQ(answer.field("x-mixed-case"), "Kept");
    EXPECT_FALSE(answer.field("connection").has_value());
    EXPECT_FALSE(answer.field("keep-alive").has_value());
  });
}

TEST_P(http2_server, answers_head_without_a_body) {
  http().get("/", [] { return "hello"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const http2_reply answer = co_await client.ask("HEAD", "/");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.field("content-length"), "5");
    EXPECT_TRUE(answer.body.empty());
    EXPECT_TRUE(answer.is_whole);
  });
}

TEST_P(http2_server, streams_bodies_both_ways) {
  http().post("/echo", [](body_reader& in, body_writer& out) -> task<result<void>> {
    while (auto piece = co_await in.read())
      if (auto sent = co_await out.write(*piece); !sent) co_return sent;
    co_return in.outcome();
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::string body = repeated("0123456789abcdef", 40'000);
    EXPECT_TRUE((co_await client.ask("POST", "/echo", body)).body == body);
    const std::int32_t id = client.begin("POST", "/echo", {}, false);
    client.give(id, "one", false);
    co_await client.until([&] { return client.so_far(id).body == "one"; });
    client.give(id, "two", true);
    EXPECT_EQ((co_await client.reply(id)).body, "onetwo");
  });
}

TEST_P(http2_server, gives_the_window_back_only_as_the_handler_reads) {
  serve_http2({.stream_window_bytes = 65'535});
  event may_read;
  http().post("/slow", [&](body_reader& in) -> task<result<std::uint64_t>> {
    std::ignore = co_await may_read.wait();
    while (co_await in.read()) {}
    if (auto whole = in.outcome(); !whole) co_return fail(whole.error());
    co_return in.given_bytes();
  });
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t id = client.begin("POST", "/slow", {}, false);
    client.give(id, std::string(200'000, 'x'), true);
    EXPECT_EQ((co_await client.ask("GET", "/")).body, "here");
    EXPECT_EQ(nghttp2_session_get_stream_remote_window_size(client.library(), id), 0);
    may_read.set();
    EXPECT_EQ((co_await client.reply(id)).body, "200000");
  });
}

TEST_P(http2_server, lets_a_writer_wait_for_the_clients_window) {
  std::size_t written = 0;
  http().get("/much", [&](body_writer& out) -> task<result<void>> {
    for (int i = 0; i < 1'000; ++i) {
      if (auto sent = co_await out.write(std::string(1'000, 'x')); !sent) co_return sent;
      written += 1'000;
    }
    co_return result<void>{};
  });
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected(), {.takes_bodies = false}};
    const std::int32_t id = client.begin("GET", "/much");
    co_await client.until([&] { return client.so_far(id).body.size() == 65'535; });
    EXPECT_EQ((co_await client.ask("HEAD", "/")).status, 200);  // others go on
    EXPECT_LT(written, 65'535U + 64 * 1024);
    client.reset(id);
    EXPECT_EQ((co_await client.ask("HEAD", "/")).status, 200);
  });
}

TEST_P(http2_server, asks_a_handler_to_stop_whose_client_cancels) {
  error seen{errc::unavailable};
  event_loop& turning = loop();
  event is_over;
  http().get("/slow", [&]() -> task<std::string> {
    const auto slept = co_await sleep_for(turning, std::chrono::seconds{5});
    seen = slept ? error{errc::unavailable} : slept.error();
    is_over.set();
    co_return "late";
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t id = client.begin("GET", "/slow");
    const std::int32_t other = client.begin("GET", "/none");
    EXPECT_EQ((co_await client.reply(other)).status, 404);
    client.reset(id);
    co_await client.send();
    std::ignore = co_await is_over.wait();
    EXPECT_EQ(seen, errc::cancelled);
    EXPECT_EQ((co_await client.ask("GET", "/none")).status, 404);
  });
}

TEST_P(http2_server, asks_handlers_to_stop_when_the_connection_is_lost) {
  event_loop& turning = loop();
  int cancelled = 0;
  http().get("/slow", [&]() -> task<std::string> {
    if (!co_await sleep_for(turning, std::chrono::seconds{5})) ++cancelled;
    co_return "late";
  });
  run([&]() -> task<void> {
    {
      http2_client client{co_await connected()};
      for (int i = 0; i < 3; ++i) client.begin("GET", "/slow");
      EXPECT_EQ((co_await client.ask("GET", "/none")).status, 404);
    }
    while (http().connections() != 0) co_await world().sleep(std::chrono::milliseconds{1});
    EXPECT_EQ(cancelled, 3);
  });
}

TEST_P(http2_server, asks_for_a_body_that_is_waited_for) {
  http().post("/whole", [](const request& r) { return std::string{r.body()}; });
  http().post("/pieces", [](body_reader& in) -> task<std::string> {
    std::string all;
    while (auto piece = co_await in.read()) all += *piece;
    co_return all;
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    for (const std::string_view path : {"/whole", "/pieces"}) {
      const std::int32_t id = client.begin("POST", path, {{"expect", "100-continue"}}, false);
      co_await client.until([&] { return !client.so_far(id).interim.empty(); });
      EXPECT_EQ(client.so_far(id).interim, std::vector{100});
      client.give(id, "body", true);
      EXPECT_EQ((co_await client.reply(id)).body, "body");
    }
  });
}

TEST_P(http2_server, tells_a_client_of_a_body_that_comes_no_further) {
  limits bounds;
  bounds.body_idle_timeout = std::chrono::milliseconds{30};
  serve_within(bounds);
  http().post("/whole", [](const request& r) { return std::string{r.body()}; });
  http().post("/pieces", [](body_reader& in) -> task<result<std::string>> {
    while (co_await in.read()) {}
    if (auto whole = in.outcome(); !whole) co_return fail(whole.error());
    co_return "all";
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    for (const std::string_view path : {"/whole", "/pieces"}) {
      const std::int32_t id = client.begin("POST", path, {}, false);
      client.give(id, "a part", false);
      const http2_reply answer = co_await client.reply(id);
      EXPECT_EQ(answer.status, 408);
      EXPECT_EQ(answer.error, NGHTTP2_NO_ERROR);
    }
  });
}

TEST_P(http2_server, ends_a_reply_that_fails_within_its_body) {
  http().get("/half", [](body_writer& out) -> task<result<void>> {
    out.start({status::ok, "text/plain", {}}, 10);
    if (auto sent = co_await out.write("12345"); !sent) co_return sent;
    co_return fail(errc::unavailable);
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const http2_reply answer = co_await client.ask("GET", "/half");
    EXPECT_FALSE(answer.is_whole);
    EXPECT_EQ(answer.error, NGHTTP2_INTERNAL_ERROR);
    EXPECT_EQ((co_await client.ask("GET", "/none")).status, 404);
  });
}

TEST_P(http2_server, answers_for_handlers_that_throw) {
  http().get("/", []() -> std::string { throw std::runtime_error{"no"}; });
  http().get("/late", []() -> task<std::string> {
    throw std::runtime_error{"no"};
    co_return "";
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    EXPECT_EQ((co_await client.ask("GET", "/")).status, 500);
    EXPECT_EQ((co_await client.ask("GET", "/late")).status, 500);
  });
}

TEST_P(http2_server, passes_trailers_over) {
  http().post("/", [](const request& r) { return std::string{r.body()}; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t id = client.begin("POST", "/", {}, false);
    client.give(id, "body", false);
    co_await client.send();
    std::string name = "checksum";
    std::string value = "1";
    const nghttp2_nv trailer{.name = reinterpret_cast<std::uint8_t*>(name.data()),
                             .value = reinterpret_cast<std::uint8_t*>(value.data()),
                             .namelen = name.size(),
                             .valuelen = value.size(),
                             .flags = NGHTTP2_NV_FLAG_NONE};
    nghttp2_submit_headers(client.library(), NGHTTP2_FLAG_END_STREAM, id, nullptr, &trailer, 1,
                           nullptr);
    EXPECT_EQ((co_await client.reply(id)).body, "body");
  });
}

TEST_P(http2_server, resets_who_sends_malformed_trailers) {
  http().post("/", [](const request& r) { return std::string{r.body()}; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const auto ask = [&](std::string name, std::string value,
                         std::uint8_t flags) -> task<std::optional<std::uint32_t>> {
      const std::int32_t id = client.begin("POST", "/", {}, false);
      client.give(id, "body", false);
      co_await client.send();
      const nghttp2_nv trailer{.name = reinterpret_cast<std::uint8_t*>(name.data()),
                               .value = reinterpret_cast<std::uint8_t*>(value.data()),
                               .namelen = name.size(),
                               .valuelen = value.size(),
                               .flags = NGHTTP2_NV_FLAG_NONE};
      nghttp2_submit_headers(client.library(), flags, id, nullptr, &trailer, 1, nullptr);
      co_return (co_await client.reply(id)).error;
    };
    EXPECT_EQ(co_await ask(":path", "/", NGHTTP2_FLAG_END_STREAM), NGHTTP2_PROTOCOL_ERROR);
    EXPECT_EQ(co_await ask("connection", "x", NGHTTP2_FLAG_END_STREAM), NGHTTP2_PROTOCOL_ERROR);
    EXPECT_EQ(co_await ask("checksum", "1", NGHTTP2_FLAG_NONE), NGHTTP2_PROTOCOL_ERROR);
    using namespace std::string_literals;
    for (const std::string& value :
         {"1\r\nx: y"s, "1\n2"s, "1\r2"s, "1\0002"s, "\0"s, "1\x7f"s, "1 "s})
      EXPECT_EQ(co_await ask("checksum", value, NGHTTP2_FLAG_END_STREAM), NGHTTP2_PROTOCOL_ERROR);
    for (const std::string& name : {"check\r\nsum"s, "check\0sum"s, "check sum"s, ""s})
      EXPECT_EQ(co_await ask(name, "1", NGHTTP2_FLAG_END_STREAM), NGHTTP2_PROTOCOL_ERROR);
    EXPECT_EQ(co_await ask("checksum", "1\t\xe9 2", NGHTTP2_FLAG_END_STREAM), NGHTTP2_NO_ERROR);
    EXPECT_EQ(co_await ask("checksum", "1", NGHTTP2_FLAG_END_STREAM), NGHTTP2_NO_ERROR);
  });
}

TEST_P(http2_server, is_logged_and_timed_as_any_other) {
  std::string logged;
  http().wrap_all(access_log{loop(), [&](std::string_view line) { logged += line; }});
  http().wrap_all(server_timing{});
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    EXPECT_TRUE((co_await client.ask("GET", "/")).field("server-timing").has_value());
  });
  EXPECT_NE(logged.find("\"GET / HTTP/2.0\" 200 4"), std::string::npos) << logged;
}

TEST_P(http2_server, says_goodbye_after_so_many_requests) {
  limits bounds;
  bounds.requests_per_connection = 3;
  serve_within(bounds);
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    for (int i = 0; i < 3; ++i) EXPECT_EQ((co_await client.ask("GET", "/")).status, 200);
    EXPECT_EQ(co_await client.end(), NGHTTP2_NO_ERROR);
    EXPECT_EQ(client.last_answered(), 5);
  });
}

TEST_P(http2_server, handles_nothing_that_it_says_it_has_not_begun) {
  limits bounds;
  bounds.requests_per_connection = 2;
  serve_within(bounds);
  int handled = 0;
  http().get("/", [&] {
    ++handled;
    return "here";
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    for (int i = 0; i < 5; ++i) client.begin("GET", "/");
    EXPECT_EQ(co_await client.end(), NGHTTP2_NO_ERROR);
    EXPECT_EQ(client.last_answered(), 3);
    EXPECT_EQ(handled, 2);
  });
}

TEST_P(http2_server, says_goodbye_to_who_asks_nothing) {
  limits bounds;
  bounds.keep_alive_timeout = std::chrono::milliseconds{30};
  serve_within(bounds);
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    EXPECT_EQ((co_await client.ask("GET", "/")).status, 200);
    EXPECT_EQ(co_await client.end(), NGHTTP2_NO_ERROR);
  });
}

TEST_P(http2_server, ends_what_is_under_way_before_it_leaves) {
  event_loop& turning = loop();
  http().get("/late", [&turning]() -> task<std::string> {
    std::ignore = co_await sleep_for(turning, std::chrono::milliseconds{50});
    co_return "late";
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t late = client.begin("GET", "/late");
    EXPECT_EQ((co_await client.ask("GET", "/none")).status, 404);
    scope stopping{co_await this_task::environment()};
    stopping.spawn([](http::server& http) -> task<void> {
      EXPECT_TRUE((co_await http.stop()).has_value());
    }(http()));
    EXPECT_EQ((co_await client.reply(late)).body, "late");
    EXPECT_EQ(co_await client.end(), NGHTTP2_NO_ERROR);
    co_await stopping.join();
  });
}

TEST_P(http2_server, cuts_handlers_at_the_deadline_of_its_end) {
  event_loop& turning = loop();
  http().get("/late", [&turning]() -> task<result<std::string>> {
    if (auto slept = co_await sleep_for(turning, std::chrono::seconds{5}); !slept)
      co_return fail(slept.error());
    co_return "late";
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t late = client.begin("GET", "/late");
    const std::int32_t half = client.begin("POST", "/late", {}, false);
    EXPECT_EQ((co_await client.ask("GET", "/none")).status, 404);
    scope stopping{co_await this_task::environment()};
    stopping.spawn([](http::server& http, event_loop& on) -> task<void> {
      environment bounded = co_await this_task::environment();
      bounded.until = deadline::at(on.now() + std::chrono::milliseconds{20});
      EXPECT_TRUE((co_await http.stop().in(bounded)).has_value());
    }(http(), loop()));
    EXPECT_EQ((co_await client.reply(late)).status, 503);
    std::ignore = half;
    EXPECT_EQ(co_await client.end(), NGHTTP2_NO_ERROR);
    co_await stopping.join();
  });
}

TEST_P(http2_server, waits_for_the_rest_of_a_preface) {
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    testing::http_client raw = co_await world().connect();
    for (const std::string_view part : {"PRI", " * HTTP/2.0\r\n", "\r\nSM\r\n"}) {
      co_await raw.send(part);
      co_await world().sleep(std::chrono::milliseconds{5});
    }
    co_await raw.send(std::string_view{"\r\n\0\0\0\4\0\0\0\0\0", 11});
    EXPECT_EQ((co_await raw.receive()).substr(3, 1), std::string(1, NGHTTP2_SETTINGS));
    testing::http_client other = co_await world().connect();
    EXPECT_EQ((co_await other.ask("PRI", "*")).status, 501);  // no preface, after all
  });
}

TEST_P(http2_server, is_spoken_only_if_it_may_be) {
  serve(GetParam(), server_options{.drain_idle = duration::zero(), .http2 = false});
  run([&]() -> task<void> {
    testing::http_client raw = co_await world().connect();
    co_await raw.send(client_preface);
    EXPECT_GE((co_await raw.reply()).status, 400);
  });
}

// ---- who goes beyond a bound ------------------------------------------------------------------

std::string frame(std::uint8_t type, std::uint8_t flags, std::int32_t stream,
                  std::string_view payload) {
  std::string text;
  const auto put = [&](std::uint32_t number, int bytes) {
    for (; bytes > 0; --bytes) text.push_back(static_cast<char>(number >> (8 * (bytes - 1))));
  };
  put(static_cast<std::uint32_t>(payload.size()), 3);
  put(type, 1);
  put(flags, 1);
  put(static_cast<std::uint32_t>(stream), 4);
  return text.append(payload);
}

/// ":method: GET", ":scheme: http", ":path: /", ":authority: a", as HPACK has them.
constexpr std::string_view packed_get{"\x82\x86\x84\x41\x01\x61", 6};

TEST_P(http2_server, cuts_who_cancels_all_it_asks_for) {
  serve_http2({.resets_per_second = 5});
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    std::string flood;
    for (std::int32_t id = 1; id < 300; id += 2)
      flood += frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, id,
                     packed_get) +
               frame(NGHTTP2_RST_STREAM, 0, id, std::string_view{"\0\0\0\x08", 4});
    co_await client.send_raw(flood);
    expect_cut(co_await client.end(), "resets");
  });
  EXPECT_LE(http().requests(), 60U);
}

TEST_P(http2_server, cuts_who_opens_more_streams_than_may_be) {
  serve_http2({.concurrent_streams = 2, .resets_per_second = 5});
  http().post("/", [](const request& r) { return std::string{r.body()}; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    std::string flood;
    for (std::int32_t id = 1; id < 300; id += 2)
      flood += frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, id, packed_get);
    co_await client.send_raw(flood);
    expect_cut(co_await client.end(), "resets");
  });
}

TEST_P(http2_server, cuts_who_sends_frames_for_nothing) {
  const std::string data = frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, packed_get);
  const std::pair<std::string, std::string> floods[] = {
      {"", frame(NGHTTP2_PING, 0, 0, "12345678")},
      {"", frame(NGHTTP2_SETTINGS, 0, 0, {})},
      {"", frame(NGHTTP2_PRIORITY, 0, 1, std::string_view{"\0\0\0\3\0", 5})},
      {"", frame(NGHTTP2_WINDOW_UPDATE, 0, 0, std::string_view{"\0\0\0\1", 4})},
      {"", frame(0x42, 0, 0, {})},
      {data, frame(NGHTTP2_DATA, 0, 1, {})},
      {data, frame(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1, std::string_view{"\0", 1})},
  };
  for (const auto& [before, each] : floods) {
    serve_http2({.idle_frames_per_second = 10});
    http().post("/", [](const request& r) { return std::string{r.body()}; });
    run([&]() -> task<void> {
      http2_client client{co_await connected()};
      co_await client.send_raw(before + repeated(each, 200));
      expect_cut(co_await client.end(), "idle_frames");
    });
  }
}

TEST_P(http2_server, cuts_who_never_ends_a_head) {
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    EXPECT_EQ((co_await client.ask("GET", "/")).status, 404);
    co_await client.send_raw(frame(NGHTTP2_HEADERS, 0, 3, packed_get) +
                             repeated(frame(NGHTTP2_CONTINUATION, 0, 3, {}), 100));
    EXPECT_EQ(co_await client.end(), NGHTTP2_ENHANCE_YOUR_CALM);
  });
}

TEST_P(http2_server, cuts_who_is_slow_with_a_head) {
  limits bounds;
  bounds.header_timeout = std::chrono::milliseconds{40};
  serve_within(bounds);
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    EXPECT_EQ((co_await client.ask("GET", "/")).status, 404);
    co_await client.send_raw(frame(NGHTTP2_HEADERS, 0, 3, packed_get));
    expect_cut(co_await client.end(), "slow_head");
  });
}

TEST_P(http2_server, cuts_who_says_much_in_few_bytes) {
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    // A field of 4,000 bytes, which goes into the table, and then its index again and again.
    std::string block{packed_get};
    block += std::string{"\x40\x01x\x7f\xa1\x1e", 6} + std::string(4'000, 'v');
    block += std::string(10'000, '\xbe');
    co_await client.send_raw(frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, block));
    expect_cut(co_await client.end(), "header_bomb");
  });
}

TEST_P(http2_server, resets_streams_whose_replies_are_not_taken) {
  limits bounds;
  bounds.write_stall_timeout = std::chrono::milliseconds{30};
  serve_within(bounds);
  http().get("/whole", [] { return std::string(100'000, 'x'); });
  http().get("/pieces", [](body_writer& out) -> task<result<void>> {
    for (;;)
      if (auto sent = co_await out.write(std::string(10'000, 'x')); !sent) co_return sent;
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected(), {.takes_bodies = false}};
    const http2_reply whole = co_await client.ask("GET", "/whole");
    EXPECT_EQ(whole.error, NGHTTP2_ENHANCE_YOUR_CALM);
    EXPECT_LE(whole.body.size(), 65'535U);
    const http2_reply pieces = co_await client.ask("GET", "/pieces");
    EXPECT_FALSE(pieces.is_whole);
    EXPECT_TRUE(pieces.error.has_value());
    EXPECT_EQ((co_await client.ask("HEAD", "/whole")).status, 200);
  });
}

TEST_P(http2_server, makes_no_replies_that_are_not_taken) {
  serve_http2({.queued_reply_bytes = 10'000});
  int handled = 0;
  http().get("/much", [&] {
    ++handled;
    return std::string(100'000, 'x');
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected(), {.takes_bodies = false}};
    const std::int32_t first = client.begin("GET", "/much");
    for (int i = 0; i < 20; ++i) client.begin("GET", "/much");
    const std::int32_t head = client.begin("HEAD", "/much");
    co_await client.until([&] { return client.so_far(first).body.size() == 65'535; });
    EXPECT_EQ(handled, 1);
    EXPECT_FALSE(client.so_far(head).error.has_value());
    client.reset(first);  // and another has its turn
    co_await client.until([&] { return handled == 2; });
    http2_client other{co_await connected()};
    std::vector<std::int32_t> all;
    for (int i = 0; i < 20; ++i) all.push_back(other.begin("GET", "/much"));
    for (const std::int32_t each : all)
      EXPECT_EQ((co_await other.reply(each)).body.size(), 100'000U);
  });
}

TEST_P(http2_server, tells_who_breaks_the_protocol_how) {
  http().get("/", [] { return "here"; });
  const std::string get =
      frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 5, packed_get);
  const std::pair<std::string, std::uint32_t> wrongs[] = {
      {frame(NGHTTP2_DATA, 0, 0, "x"), NGHTTP2_PROTOCOL_ERROR},
      {frame(NGHTTP2_DATA, 0, 7, "x"), NGHTTP2_PROTOCOL_ERROR},
      {frame(NGHTTP2_PING, 0, 0, "short"), NGHTTP2_FRAME_SIZE_ERROR},
      {frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\xff\xff\xff\xff\xff\xff"),
       NGHTTP2_COMPRESSION_ERROR},
      {get + frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 3, packed_get),
       NGHTTP2_PROTOCOL_ERROR},
  };
  for (const auto& [bytes, code] : wrongs) {
    serve_within({});
    http().get("/", [] { return "here"; });
    run([&]() -> task<void> {
      http2_client client{co_await connected()};
      co_await client.send_raw(bytes);
      EXPECT_EQ(co_await client.end(), code);
    });
  }
}

TEST_P(http2_server, knows_what_may_come_for_a_stream_that_has_closed) {
  http().get("/", [] { return "here"; });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    EXPECT_EQ((co_await client.ask("GET", "/")).body, "here");
    co_await client.send_raw(frame(NGHTTP2_DATA, 0, 1, "x"));
    EXPECT_EQ(co_await client.end(), NGHTTP2_STREAM_CLOSED);
    // Who was reset may not know yet.
    http2_client early{co_await connected()};
    const std::int32_t id = early.begin("POST", "/", {{"content-length", "9999999"}}, false);
    early.give(id, "a part", false);
    std::ignore = co_await early.reply(id);
    co_await early.send_raw(frame(NGHTTP2_DATA, 0, id, "x"));
    EXPECT_EQ((co_await early.ask("GET", "/")).body, "here");
  });
}

/// More may have come than the window has that the client learns of later.
TEST_P(http2_server, takes_what_was_sent_before_a_smaller_window_was_known) {
  serve_http2({.stream_window_bytes = 16'384});
  http().post("/size", [](const request& r) { return std::to_string(r.body().size()); });
  run([&]() -> task<void> {
    for (const std::size_t size : {30'000U, 65'535U, 200'000U}) {
      http2_client client{co_await connected()};
      const std::int32_t id = client.begin("POST", "/size", {}, false);
      client.give(id, std::string(size, 'x'), true);
      EXPECT_EQ((co_await client.reply(id)).body, std::to_string(size));
    }
  });
}

/// Some say of streams of their own that they begin none of them (Go's client does).
TEST_P(http2_server, answers_who_leaves_before_he_is_answered) {
  http().get("/", [&]() -> task<std::string> {
    co_await world().sleep(std::chrono::milliseconds{5});
    co_return "here";
  });
  run([&]() -> task<void> {
    testing::http_client raw = co_await world().connect();
    co_await raw.send(
        std::string{client_preface} + frame(NGHTTP2_SETTINGS, 0, 0, "") +
        frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1, packed_get) +
        frame(NGHTTP2_GOAWAY, 0, 0, std::string_view{"\0\0\0\3\0\0\0\0", 8}));
    std::string all;
    for (std::string part = "-"; !part.empty(); all += part) part = co_await raw.receive();
    EXPECT_TRUE(all.contains("here"));
    // And it is told what was answered (RFC 9113 section 6.8).
    EXPECT_TRUE(
        all.ends_with(frame(NGHTTP2_GOAWAY, 0, 0, std::string_view{"\0\0\0\1\0\0\0\0", 8})));
  });
}

TEST_P(http2_server, gathers_bodies_of_one_connection_within_a_bound) {
  serve_http2({.stream_window_bytes = 65'535, .connection_window_bytes = 65'535});
  http().post("/size", [](const request& r) { return std::to_string(r.body().size()); });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    std::vector<std::int32_t> all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(client.begin("POST", "/size", {}, false));
      client.give(all.back(), std::string(200'000, 'x'), true);
    }
    for (const std::int32_t each : all) EXPECT_EQ((co_await client.reply(each)).body, "200000");
  });
}

}  // namespace
}  // namespace weft::http::http2
