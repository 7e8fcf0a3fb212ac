// WebSockets of the server, as their other end sees them.
#include <weft/http/server.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tests/conformance/websocket_peer.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/net/tls_files_test.hpp>
#include <weft/net/tls_stream.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http::ws {
namespace {

using namespace std::chrono_literals;
using testing::backend_name;
using testing::backends;

struct asked_room {
  std::string name;
};
struct asked_wish {
  std::optional<std::uint32_t> last;
};

task<void> echo_all(websocket& socket) {
  while (auto message = co_await socket.read())
    if (!co_await socket.send(*message)) co_return;
}

class server_websocket_test : public testing::each_backend {
 protected:
  task<websocket_peer> open(std::string_view path = "/", std::string_view fields = {}) {
    websocket_peer peer{co_await world().connect(), loop()};
    EXPECT_EQ(co_await peer.shake_hands(path, fields), 101);
    co_return peer;
  }
  /// One that has been asked for and refused.
  task<testing::http_reply> refused(std::string_view fields, std::string_view method = "GET") {
    auto client = co_await world().connect();
    co_return co_await client.ask(method, "/", {}, fields);
  }
  [[nodiscard]] std::int64_t counted(std::string_view name) {
    const auto seen = world().metrics().read();
    const auto* const found = seen.find(name);
    return found == nullptr ? -1 : found->value;
  }
};
INSTANTIATE_TEST_SUITE_P(on, server_websocket_test, backends, backend_name);

TEST_P(server_websocket_test, answers_the_handshake_of_the_rfc) {
  http().websocket("/", &echo_all, {.subprotocols = {"superchat", "chat"}});
  run([&]() -> task<void> {
    auto peer = co_await open("/", "Sec-WebSocket-Protocol: chat, superchat\r\n");
    EXPECT_EQ(peer.reply().field("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    EXPECT_EQ(peer.reply().field("upgrade"), "websocket");
    EXPECT_EQ(peer.reply().field("connection"), "Upgrade");
    EXPECT_EQ(peer.reply().field("sec-websocket-protocol"), "superchat");
    EXPECT_FALSE(peer.reply().field("sec-websocket-extensions"));
    EXPECT_FALSE(peer.reply().field("content-length"));
    EXPECT_EQ(http().connections(), 1U);
    EXPECT_EQ(counted("http_websockets"), 1);
  });
  EXPECT_EQ(counted("http_websockets"), 0);
  EXPECT_EQ(counted("http_connections"), 0);
}

TEST_P(server_websocket_test, refuses_what_is_no_handshake_and_says_why) {
  http().websocket("/", &echo_all);
  run([&]() -> task<void> {
    const auto without = [](std::string_view line, std::string_view instead = {}) {
      std::string fields{handshake_fields};
      return fields.replace(fields.find(line),
                            fields.find("\r\n", fields.find(line)) + 2 - fields.find(line),
                            instead);
    };
    const auto plain = co_await refused({});
    EXPECT_EQ(plain.status, 426);
    EXPECT_EQ(plain.field("upgrade"), "websocket");
    EXPECT_NE(plain.body.find("speaks WebSocket"), plain.body.npos);
    EXPECT_EQ((co_await refused(handshake_fields, "HEAD")).status, 426);
    EXPECT_EQ((co_await refused(handshake_fields, "POST")).status, 405);
    EXPECT_EQ((co_await refused(without("Upgrade:", "Upgrade: h2c\r\n"))).status, 426);
    EXPECT_EQ((co_await refused(without("Connection:"))).status, 400);
    EXPECT_EQ((co_await refused(without("Sec-WebSocket-Version"))).status, 400);
    const auto version =
        co_await refused(without("Sec-WebSocket-Version", "Sec-WebSocket-Version: 8\r\n"));
    EXPECT_EQ(version.status, 426);
    EXPECT_EQ(version.field("sec-websocket-version"), "13");
    EXPECT_EQ((co_await refused(without("Sec-WebSocket-Key"))).status, 400);
    for (const std::string_view key : {"", "short", "dGhlIHNhbXBsZSBub25jZQ",
                                       "dGhlIHNhbXBsZSBub25jZQ=a", "dGhlIHNhbXBsZSBub25!ZQ=="})
      EXPECT_EQ((co_await refused(without("Sec-WebSocket-Key",
                                          std::string{"Sec-WebSocket-Key: "}.append(key) + "\r\n")))
                    .status,
                400)
          << key;
    EXPECT_EQ((co_await refused(std::string{handshake_fields} +
                                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"))
                  .status,
              400);
    EXPECT_EQ((co_await refused(std::string{handshake_fields} + "Sec-WebSocket-Protocol: a b\r\n"))
                  .status,
              400);
  });
}

TEST_P(server_websocket_test, a_refused_handshake_leaves_the_connection_to_http) {
  http().websocket("/", &echo_all);
  run([&]() -> task<void> {
    websocket_peer peer{co_await world().connect(), loop()};
    EXPECT_EQ((co_await peer.client().ask("GET", "/")).status, 426);
    EXPECT_EQ(co_await peer.shake_hands("/"), 101);
    co_await peer.send_text("after");
    EXPECT_EQ(co_await peer.event(), "text after");
  });
}

TEST_P(server_websocket_test, takes_no_bytes_before_its_answer) {
  http().websocket("/", &echo_all);
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    co_await client.send("GET / HTTP/1.1\r\nHost: a\r\n" + std::string{handshake_fields} + "\r\n" +
                         frame_text(opcode::text, "smuggled"));
    EXPECT_EQ((co_await client.reply()).status, 400);
  });
}

TEST_P(server_websocket_test, lets_pages_of_its_own_host_in_and_those_that_are_named) {
  http().websocket("/", &echo_all, {.origins = {"https://app.example", "null"}});
  run([&]() -> task<void> {
    const auto status_for = [&](std::string_view origin) -> task<int> {
      const auto reply = co_await refused(
          std::string{handshake_fields}.append("Origin: ").append(origin) + "\r\n");
      co_return reply.status;
    };
    for (const std::string_view origin :
         {"http://test", "https://test", "http://TEST:80", "https://app.example", "null"})
      EXPECT_EQ(co_await status_for(origin), 101) << origin;
    for (const std::string_view origin :
         {"http://evil.example", "http://test:8080", "http://app.example", "https://test.evil",
          "http://test/", "http://test@evil", "test", ""})
      EXPECT_EQ(co_await status_for(origin), 403) << origin;
    const auto twice = co_await refused(std::string{handshake_fields} +
                                        "Origin: http://test\r\nOrigin: http://test\r\n");
    EXPECT_EQ(twice.status, 403);
  });
}

TEST_P(server_websocket_test, echoes_messages_however_they_come) {
  http().websocket("/", &echo_all);
  run([&]() -> task<void> {
    auto peer = co_await open();
    co_await peer.send_text("hello");
    EXPECT_EQ(co_await peer.event(), "text hello");
    co_await peer.send(opcode::binary, std::string_view{"\0\1\xff", 3});
    EXPECT_EQ(co_await peer.event(), "binary 0001ff");
    co_await peer.send_text("");
    EXPECT_EQ(co_await peer.event(), "text ");
    co_await peer.send(opcode::text, "in ", {.is_final = false});
    co_await peer.send(opcode::ping, "between");
    co_await peer.send(opcode::continuation, "parts");
    EXPECT_EQ(co_await peer.event(), "pong between");
    EXPECT_EQ(co_await peer.event(), "text in parts");
    for (const std::size_t size : {125UZ, 126UZ, 4000UZ, 5000UZ, 65'535UZ, 65'536UZ, 1'000'000UZ}) {
      co_await peer.send_text(std::string(size, 'x'));
      const std::string shown = co_await peer.event();
      EXPECT_EQ(shown, "text of " + std::to_string(size) + " bytes");
    }
    std::string many;
    for (int i = 0; i != 500; ++i) many += frame_text(opcode::text, std::to_string(i));
    co_await peer.send_raw(many);
    for (int i = 0; i != 500; ++i) EXPECT_EQ(co_await peer.event(), "text " + std::to_string(i));
    for (const char byte : frame_text(opcode::text, "byte by byte")) {
      co_await peer.send_raw({&byte, 1});
      co_await yield{loop()};
    }
    EXPECT_EQ(co_await peer.event(), "text byte by byte");
  });
  EXPECT_EQ(counted("http_websocket_messages_received_total"), 512);
  EXPECT_EQ(counted("http_websocket_messages_sent_total"), 512);
}

TEST_P(server_websocket_test, compresses_where_both_want_it) {
  http().websocket("/off", &echo_all);
  http().websocket("/single", &echo_all, {.compression = websocket_compression::single});
  http().websocket("/context", &echo_all, {.compression = websocket_compression::context});
  run([&]() -> task<void> {
    constexpr std::string_view offer =
        "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n";
    const std::string text = testing::repeated("the same again and again ", 100);
    for (const std::string_view path : {"/single", "/context"}) {
      const bool keeps = path == "/context";
      websocket_peer peer{co_await world().connect(), loop(), role::client, keeps};
      EXPECT_EQ(co_await peer.shake_hands(path, offer), 101);
      EXPECT_EQ(peer.reply().field("sec-websocket-extensions"),
                keeps
                    ? "permessage-deflate"
                    : "permessage-deflate; server_no_context_takeover; client_no_context_takeover");
      message_deflater deflater{15, keeps};
      for (int i = 0; i != 3; ++i) {
        std::string shorter;
        EXPECT_TRUE(deflater.deflate(text, shorter));
        co_await peer.send(opcode::text, shorter, {.is_compressed = true});
        EXPECT_EQ(co_await peer.event(), "text of 2500 bytes");
        co_await peer.send_text("plain");
        EXPECT_EQ(co_await peer.event(), "text plain");
      }
    }
    auto off = co_await open("/off", offer);
    EXPECT_FALSE(off.reply().field("sec-websocket-extensions"));
    auto unasked = co_await open("/single");
    EXPECT_FALSE(unasked.reply().field("sec-websocket-extensions"));
    co_await unasked.send_text(text);
    EXPECT_EQ(co_await unasked.event(), "text of 2500 bytes");
  });
}

TEST_P(server_websocket_test, a_client_that_closes_is_answered_and_the_handler_told) {
  std::vector<std::string> seen;
  http().websocket("/", [&](websocket& socket) -> task<void> {
    std::ignore = co_await socket.send("welcome");
    auto message = co_await socket.read();
    EXPECT_EQ(message.error(), errc::closed);
    EXPECT_FALSE(socket.is_open());
    seen.push_back(
        std::to_string(std::to_underlying(socket.end().code)).append(socket.end().reason));
    const auto sent = co_await socket.send("too late");
    EXPECT_EQ(sent.error(), errc::closed);
    const auto closed = co_await socket.close();
    EXPECT_TRUE(closed.has_value());
  });
  run([&]() -> task<void> {
    auto peer = co_await open();
    EXPECT_EQ(co_await peer.event(), "text welcome");
    co_await peer.send(opcode::close, close_payload(4001, "bye"));
    EXPECT_EQ(co_await peer.event(), "close 4001 ");
    EXPECT_EQ(co_await peer.event(), "end");
    auto silent = co_await open();
    EXPECT_EQ(co_await silent.event(), "text welcome");
    co_await silent.send(opcode::close, "");
    EXPECT_EQ(co_await silent.event(), "close 1005 ");
    EXPECT_EQ(co_await silent.event(), "end");
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"4001bye", "1005"}));
}

TEST_P(server_websocket_test, a_handler_closes_with_a_code_and_waits_for_the_answer) {
  result<void> outcome = fail(errc::unavailable);
  http().websocket("/", [&](websocket& socket) -> task<void> {
    EXPECT_EQ((co_await socket.close(close_code::no_status)).error(), errc::invalid_argument);
    EXPECT_EQ((co_await socket.close(close_code::normal, std::string(124, 'x'))).error(),
              errc::invalid_argument);
    EXPECT_EQ((co_await socket.close(close_code::normal, "\xff")).error(), errc::invalid_argument);
    outcome = co_await socket.close(close_code{4000}, "enough");
    EXPECT_EQ((co_await socket.read()).error(), errc::closed);
  });
  run([&]() -> task<void> {
    auto peer = co_await open();
    co_await peer.send_text("not read any more");
    EXPECT_EQ(co_await peer.event(), "close 4000 enough");
    EXPECT_FALSE(outcome.has_value());
    co_await peer.send_text("dropped");
    co_await peer.send(opcode::close, close_payload(4000));
    EXPECT_EQ(co_await peer.event(), "end");
    for (int i = 0; i != 3; ++i) co_await yield{loop()};
    EXPECT_TRUE(outcome.has_value());
  });
}

TEST_P(server_websocket_test, closes_when_its_handler_has_returned_or_thrown) {
  http().websocket("/returns", [](websocket& socket) -> task<void> {
    std::ignore = co_await socket.send("done");
  });
  http().websocket("/throws", [](websocket&) -> task<void> {
    throw std::runtime_error{"no"};
    co_return;
  });
  run([&]() -> task<void> {
    auto returns = co_await open("/returns");
    EXPECT_EQ(co_await returns.event(), "text done");
    EXPECT_EQ(co_await returns.event(), "close 1000 ");
    co_await returns.send(opcode::close, close_payload(1000));
    EXPECT_EQ(co_await returns.event(), "end");
    auto throws = co_await open("/throws");
    EXPECT_EQ(co_await throws.event(), "close 1011 ");
  });
}

TEST_P(server_websocket_test, fails_who_breaks_the_protocol_or_a_limit_and_says_why) {
  std::vector<error> reads;
  const auto handler = [&](websocket& socket) -> task<void> {
    auto message = co_await socket.read();
    reads.push_back(message.error());
  };
  http().websocket("/", handler, {.limits = {.message_bytes = 100}});
  run([&]() -> task<void> {
    auto wrong = co_await open();
    co_await wrong.send(opcode::text, "no \xff text");
    EXPECT_EQ(co_await wrong.event(), "close 1007 text that is not UTF-8");
    EXPECT_EQ(co_await wrong.event(), "end");
    auto unmasked = co_await open();
    co_await unmasked.send_raw(frame_text(opcode::text, "a", {}, role::server));
    EXPECT_EQ(co_await unmasked.event(), "close 1002 a client's frame is not masked");
    auto large = co_await open();
    co_await large.send_text(std::string(101, 'x'));
    EXPECT_EQ(co_await large.event(), "close 1009 the message is longer than is taken here");
  });
  EXPECT_EQ(reads,
            (std::vector<error>{errc::protocol_error, errc::protocol_error, errc::limit_exceeded}));
  EXPECT_EQ(counted("http_websockets_failed_total"), 3);
}

TEST_P(server_websocket_test, answers_pings_and_sees_the_end_while_its_handler_is_busy) {
  event may_go_on;
  error read_gave{errc::unavailable};
  http().websocket("/", [&](websocket& socket) -> task<void> {
    auto message = co_await socket.read();
    EXPECT_EQ(message->data, "work");
    std::ignore = co_await may_go_on.wait();
    EXPECT_EQ(message->data, "work");  // until the next read
    EXPECT_FALSE(socket.is_open());
    read_gave = (co_await socket.read()).error();
  });
  run([&]() -> task<void> {
    auto peer = co_await open();
    co_await peer.send_text("work");
    co_await peer.send(opcode::ping, "there?");
    EXPECT_EQ(co_await peer.event(), "pong there?");
    co_await peer.send(opcode::close, close_payload(1000));
    EXPECT_EQ(co_await peer.event(), "close 1000 ");
    EXPECT_EQ(co_await peer.event(), "end");
    may_go_on.set();
    co_await yield{loop()};
  });
  EXPECT_EQ(read_gave, errc::closed);
}

TEST_P(server_websocket_test, what_came_before_a_fault_is_answered_before_it) {
  http().websocket("/", &echo_all);
  run([&]() -> task<void> {
    auto peer = co_await open();
    co_await peer.send_raw(frame_text(opcode::text, "good") +
                           frame_text(opcode::text, "bad", {}, role::server));
    EXPECT_EQ(co_await peer.event(), "text good");
    EXPECT_EQ(co_await peer.event(), "close 1002 a client's frame is not masked");
  });
}

TEST_P(server_websocket_test, says_that_a_connection_broke) {
  error read_gave{errc::unavailable};
  http().websocket("/", [&](websocket& socket) -> task<void> {
    read_gave = (co_await socket.read()).error();
    EXPECT_EQ(socket.end().code, close_code::abnormal);
  });
  run([&]() -> task<void> {
    { auto peer = co_await open(); }
    while (counted("http_websockets") != 0) co_await yield{loop()};
  });
  EXPECT_EQ(read_gave, errc::reset);
  EXPECT_EQ(counted("http_websockets_lost_total"), 1);
}

TEST_P(server_websocket_test, a_read_that_was_cancelled_or_late_loses_nothing) {
  http().websocket("/", [&](websocket& socket) -> task<void> {
    EXPECT_EQ((co_await with_timeout(5ms,
                                     [](websocket& s) -> task<error> {
                                       co_return (co_await s.read()).error();
                                     }(socket))),
              errc::timed_out);
    std::ignore = co_await socket.send("late");
    stop_source stop;
    environment env = co_await this_task::environment();
    env.stop = stop.token();
    stop.request_stop();
    const auto read_once = [](websocket& s) -> task<error> {
      co_return (co_await s.read()).error();
    };
    EXPECT_EQ(co_await read_once(socket).in(env), errc::cancelled);
    co_await echo_all(socket);
  });
  run([&]() -> task<void> {
    auto peer = co_await open();
    EXPECT_EQ(co_await peer.event(), "text late");
    co_await peer.send_text("still here");
    EXPECT_EQ(co_await peer.event(), "text still here");
  });
}

TEST_P(server_websocket_test, a_handler_sees_the_path_the_query_and_the_request) {
  http().websocket("/rooms/{name}",
                   [](path<asked_room> at, websocket& socket, query<asked_wish> q) -> task<void> {
                     std::ignore =
                         co_await socket.send(at->name + " " + std::to_string(q->last.value_or(7)));
                   });
  http().websocket("/who",
                   [](const request& asked) -> result<unique_function<task<void>(websocket&)>> {
                     const auto who = asked.header("cookie");
                     if (!who) return fail(errc::not_found);
                     return [name = std::string{*who}](websocket& socket) -> task<void> {
                       std::ignore = co_await socket.send(name);
                     };
                   });
  run([&]() -> task<void> {
    auto peer = co_await open("/rooms/blue?last=3");
    EXPECT_EQ(co_await peer.event(), "text blue 3");
    websocket_peer wrong{co_await world().connect(), loop()};
    EXPECT_EQ(co_await wrong.shake_hands("/rooms/blue?last=x"), 400);
    auto known = co_await open("/who", "Cookie: ann\r\n");
    EXPECT_EQ(co_await known.event(), "text ann");
    websocket_peer unknown{co_await world().connect(), loop()};
    EXPECT_EQ(co_await unknown.shake_hands("/who"), 404);
  });
}

TEST_P(server_websocket_test, stands_behind_middlewares_that_wait_and_add_fields) {
  http().wrap_all([this](exchange& e, handler& next) -> task<void> {
    std::ignore = co_await sleep_for(loop(), 1ms);
    std::ignore = e.add_field("Set-Cookie", "seen=1");
    co_await e.run(next);
    EXPECT_EQ(e.replied_with(), status::switching_protocols);
  });
  http().websocket("/", &echo_all);
  run([&]() -> task<void> {
    auto peer = co_await open();
    EXPECT_EQ(peer.reply().field("set-cookie"), "seen=1");
    co_await peer.send_text("hello");
    EXPECT_EQ(co_await peer.event(), "text hello");
  });
}

TEST_P(server_websocket_test, sends_in_parts_and_whole_messages_wait_for_the_last) {
  http().websocket("/", [](websocket& socket) -> task<void> {
    EXPECT_TRUE(co_await socket.send_part({message_kind::text, "one "}, false));
    scope others{co_await this_task::environment()};
    others.spawn(
        [](websocket& s) -> task<void> { EXPECT_TRUE(co_await s.send("between")); }(socket));
    co_await yield{event_loop::current()};
    EXPECT_TRUE(co_await socket.send_part({message_kind::text, "two"}, true));
    co_await others.join();
  });
  run([&]() -> task<void> {
    auto peer = co_await open();
    EXPECT_EQ(co_await peer.event(), "text one two");
    EXPECT_EQ(co_await peer.event(), "text between");
  });
}

TEST_P(server_websocket_test, keeps_text_that_is_no_utf8_to_itself) {
  http().websocket("/", [](websocket& socket) -> task<void> {
    EXPECT_EQ((co_await socket.send("\xff")).error(), errc::invalid_argument);
    EXPECT_TRUE(co_await socket.send_binary("\xff"));
  });
  run([&]() -> task<void> {
    auto peer = co_await open();
    EXPECT_EQ(co_await peer.event(), "binary ff");
  });
}

class slow_websocket_test : public server_websocket_test {};
INSTANTIATE_TEST_SUITE_P(on, slow_websocket_test, backends, backend_name);

TEST_P(slow_websocket_test, whoever_sends_to_a_slow_reader_waits) {
  std::size_t sent = 0;
  bool was_late = false;
  const std::string text(10'000, 'x');
  http().websocket("/", [&](websocket& socket) -> task<void> {
    for (; sent != 2000; ++sent) {
      const auto done =
          co_await with_timeout(30ms, [](websocket& s, std::string_view t) -> task<result<void>> {
            co_return co_await s.send(t);
          }(socket, text));
      if (done) continue;
      EXPECT_EQ(done.error(), errc::timed_out);
      break;
    }
    if (GetParam() == backend_kind::simulated) {  // io_uring receives what nobody has asked for
      const auto part = co_await with_timeout(
          1ms, socket.send_part({message_kind::text, "begins no message"}, false));
      EXPECT_TRUE(!part && part.error() == errc::timed_out);
    }
    was_late = true;
    std::ignore = co_await socket.send("last");
  });
  run([&]() -> task<void> {
    auto peer = co_await open();
    while (!was_late) std::ignore = co_await sleep_for(loop(), 5ms);
    EXPECT_GT(sent, 5U);
    EXPECT_LT(sent, 1990U);
    for (std::size_t i = 0; i != sent; ++i) EXPECT_EQ(co_await peer.event(), "text of 10000 bytes");
    EXPECT_EQ(co_await peer.event(), "text last");
  });
}

TEST_P(slow_websocket_test, whoever_sends_faster_than_is_read_waits) {
  event may_read;
  std::size_t read = 0;
  http().websocket("/", [&](websocket& socket) -> task<void> {
    std::ignore = co_await may_read.wait();
    while (auto message = co_await socket.read()) ++read;
  });
  run([&]() -> task<void> {
    auto peer = co_await open();
    const std::string frames =
        testing::repeated(frame_text(opcode::text, std::string(1000, 'x')), 20'000);
    bool all_sent = false;
    scope sending{co_await this_task::environment()};
    sending.spawn([](websocket_peer& p, std::string_view all, bool& done) -> task<void> {
      for (; !all.empty(); all.remove_prefix(std::min<std::size_t>(all.size(), 100'000)))
        co_await p.send_raw(all.substr(0, 100'000));
      done = true;
    }(peer, frames, all_sent));
    for (int i = 0; i != 50; ++i) std::ignore = co_await sleep_for(loop(), 1ms);
    EXPECT_FALSE(all_sent);
    EXPECT_LE(counted("http_websocket_messages_received_total"), 1);
    may_read.set();
    co_await sending.join();
    while (read != 20'000) co_await yield{loop()};
  });
}

TEST_P(slow_websocket_test, a_peer_that_pings_and_reads_nothing_fills_no_memory) {
  http().websocket("/", &echo_all);
  run([&]() -> task<void> {
    auto peer = co_await open();
    const std::string pings =
        testing::repeated(frame_text(opcode::ping, std::string(125, 'p')), 1000);
    scope sending{co_await this_task::environment()};
    sending.spawn([](websocket_peer& p, std::string_view some) -> task<void> {
      for (int i = 0; i != 200; ++i) co_await p.send_raw(some);
    }(peer, pings));
    co_await sending.join();
    std::size_t pongs = 0;
    std::ignore = co_await with_timeout(1s, [](websocket_peer& p, std::size_t& count) -> task<int> {
      for (std::string seen = co_await p.event(); seen.starts_with("pong");
           seen = co_await p.event())
        ++count;
      co_return 0;
    }(peer, pongs));
    EXPECT_GT(pongs, 100U);
  });
}

class timed_websocket_test : public testing::in_memory {
 protected:
  task<websocket_peer> open() {
    websocket_peer peer{co_await world().connect(), loop()};
    EXPECT_EQ(co_await peer.shake_hands("/"), 101);
    co_return peer;
  }
};

TEST_F(timed_websocket_test, pings_who_is_silent_and_cuts_who_stays_so) {
  error read_gave{errc::unavailable};
  http().websocket(
      "/", [&](websocket& socket) -> task<void> { read_gave = (co_await socket.read()).error(); },
      {.limits = {.ping_interval = 10s, .pong_timeout = 3s}});
  run([&]() -> task<void> {
    auto peer = co_await open();
    const time_point begun = loop().now();
    EXPECT_EQ(co_await peer.event(), "ping ");
    EXPECT_GE(loop().now() - begun, 10s);
    co_await peer.send(opcode::pong, "");
    EXPECT_EQ(co_await peer.event(), "ping ");
    EXPECT_GE(loop().now() - begun, 20s);
    EXPECT_EQ(co_await peer.event(), "end");
    EXPECT_GE(loop().now() - begun, 23s);
    EXPECT_LT(loop().now() - begun, 24s);
  });
  EXPECT_EQ(read_gave, errc::reset);
}

TEST_F(timed_websocket_test, cuts_who_does_not_answer_a_close_frame) {
  result<void> closed;
  http().websocket("/", [&](websocket& socket) -> task<void> { closed = co_await socket.close(); },
                   {.limits = {.close_timeout = 2s}});
  run([&]() -> task<void> {
    auto peer = co_await open();
    const time_point begun = loop().now();
    EXPECT_EQ(co_await peer.event(), "close 1000 ");
    EXPECT_EQ(co_await peer.event(), "end");
    EXPECT_GE(loop().now() - begun, 2s);
    EXPECT_LT(loop().now() - begun, 3s);
  });
  EXPECT_EQ(closed.error(), errc::reset);
}

TEST_F(timed_websocket_test, asks_a_handler_to_stop_that_goes_on_when_all_is_over) {
  duration went_on{};
  http().websocket("/", [&](websocket&) -> task<void> {
    const time_point begun = loop().now();
    EXPECT_FALSE(co_await sleep_for(loop(), 1h));
    went_on = loop().now() - begun;
  });
  run([&]() -> task<void> {
    { auto peer = co_await open(); }
    std::ignore = co_await sleep_for(loop(), 30s);
  });
  EXPECT_GE(went_on, 5s);
  EXPECT_LT(went_on, 7s);
}

TEST_F(timed_websocket_test, a_server_that_drains_says_going_away_and_waits_for_the_answer) {
  bool has_ended = false;
  http().websocket("/", [&](websocket& socket) -> task<void> {
    while (auto message = co_await socket.read()) {}
    EXPECT_EQ(socket.end().code, close_code::going_away);
    has_ended = true;
  });
  run([&]() -> task<void> {
    auto peer = co_await open();
    scope stopping{co_await this_task::environment()};
    stopping.spawn([](server& s) -> task<void> { std::ignore = co_await s.stop(); }(http()));
    EXPECT_EQ(co_await peer.event(), "close 1001 the server ends");
    EXPECT_FALSE(has_ended);
    co_await peer.send(opcode::close, close_payload(1001));
    EXPECT_EQ(co_await peer.event(), "end");
    const time_point begun = loop().now();
    peer.client().stream().end_output();
    co_await stopping.join();
    EXPECT_TRUE(has_ended);
    EXPECT_LT(loop().now() - begun, 1s);
  });
}

TEST_F(timed_websocket_test, a_service_that_ends_says_goodbye_and_waits_for_its_handlers) {
  constexpr std::string_view name = "rooms";
  lifetime rooms{name};
  bool has_ended = false;
  http().websocket(
      "/",
      [&](websocket& socket) -> task<void> {
        EXPECT_EQ((co_await socket.read()).error(), errc::closed);
        has_ended = true;
      },
      {}, &rooms);
  run([&]() -> task<void> {
    auto peer = co_await open();
    rooms.request_end();
    EXPECT_EQ(co_await peer.event(), "close 1001 the server ends");
    co_await peer.send(opcode::close, close_payload(1001));
    EXPECT_EQ(co_await peer.event(), "end");
    peer.client().stream().end_output();
    co_await rooms.ended();
    EXPECT_TRUE(has_ended);
    EXPECT_EQ((co_await peer.client().rest()), "");
    websocket_peer late{co_await world().connect(), loop()};
    EXPECT_EQ(co_await late.shake_hands("/"), 404);
  });
}

TEST_F(timed_websocket_test, a_server_at_its_deadline_cuts_who_has_not_left) {
  http().websocket("/",
                   [&](websocket&) -> task<void> { EXPECT_FALSE(co_await sleep_for(loop(), 1h)); },
                   {.limits = {.close_timeout = 1h}});
  run([&]() -> task<void> {
    auto peer = co_await open();
    const time_point begun = loop().now();
    std::ignore = co_await with_timeout(3s, http().stop());
    EXPECT_LT(loop().now() - begun, 4s);
    EXPECT_EQ(co_await peer.event(), "close 1001 the server ends");
    EXPECT_EQ(co_await peer.event(), "end");
  });
}

TEST_F(timed_websocket_test,
       a_server_at_its_deadline_cuts_who_has_not_answered_a_handler_that_is_gone) {
  http().websocket("/", [](websocket&) -> task<void> { co_return; },
                   {.limits = {.close_timeout = 1h}});
  run([&]() -> task<void> {
    auto peer = co_await open();
    EXPECT_EQ(co_await peer.event(), "close 1000 ");
    std::ignore = co_await with_timeout(3s, http().stop());
    EXPECT_EQ(co_await peer.event(), "end");
  });
}

class secure_websocket_test : public ::testing::TestWithParam<backend_kind> {};
INSTANTIATE_TEST_SUITE_P(on, secure_websocket_test, backends, backend_name);

TEST_P(secure_websocket_test, speaks_over_tls_and_closes_in_good_order) {
  net::test_authority authority;
  const net::tls_certificate site = authority.issue("site", {.names = {"site.test"}});
  const net::tls_context trusting = *net::tls_context::client({.ca = authority.ca()});
  testing::http_world world{
      GetParam(),
      {.drain_idle = duration::zero(), .tls = {.certificate = site.certificate, .key = site.key}}};
  world.server().websocket("/", &echo_all);
  world.run([&]() -> task<void> {
    net::handshake_gate gate{world.loop()};
    auto plain = co_await net::tcp_stream::connect(world.loop(), world.server().local_endpoint());
    auto stream = co_await net::tls_connect(std::move(plain.value()), trusting, "site.test", gate);
    websocket_peer peer{testing::http_client{std::move(stream.value())}, world.loop()};
    EXPECT_EQ(co_await peer.shake_hands("/", "Origin: https://test\r\n"), 101);
    for (const std::size_t size : {70UZ, 5'000UZ, 300'000UZ}) {
      co_await peer.send_text(std::string(size, 's'));
      EXPECT_EQ(co_await peer.event(), "text of " + std::to_string(size) + " bytes");
    }
    co_await peer.send(opcode::close, close_payload(1000));
    EXPECT_EQ(co_await peer.event(), "close 1000 ");
    EXPECT_EQ(co_await peer.event(), "end");
    websocket_peer insecure{
        co_await
        [](testing::http_world& w, const net::tls_context& c) -> task<testing::http_client> {
          net::handshake_gate own{w.loop()};
          auto tcp = co_await net::tcp_stream::connect(w.loop(), w.server().local_endpoint());
          auto tls = co_await net::tls_connect(std::move(tcp.value()), c, "site.test", own);
          co_return testing::http_client{std::move(tls.value())};
        }(world, trusting),
        world.loop()};
    EXPECT_EQ(co_await insecure.shake_hands("/", "Origin: http://test\r\n"), 403);
  });
}

}  // namespace
}  // namespace weft::http::ws
