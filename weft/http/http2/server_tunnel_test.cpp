// WebSockets over HTTP/2, as their other end sees them (RFC 8441). What is said over one is the
// matter of websocket/'s own tests: here is what carries it.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <tests/conformance/websocket_peer.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/frame_pool.hpp>
#include <weft/coro/scope.hpp>
#include <weft/testing/allocation_counter.hpp>
#include <weft/testing/http2_client.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http::http2 {
namespace {

using testing::backend_name;
using testing::backends;
using testing::http2_client;
using testing::http2_reply;
using testing::repeated;
using ws::close_payload;
using ws::frame_text;
using ws::opcode;
using fields = http2_client::fields;

task<void> echo_each(websocket& socket) {
  while (const auto message = co_await socket.read())
    if (!co_await socket.send(*message)) co_return;
}

std::string from_server(opcode kind, std::string_view payload) {
  return frame_text(kind, payload, {}, ws::role::server);
}

/// As a server sends it: short ones have two bytes before their content.
constexpr std::size_t short_head_bytes = 2;

class http2_websocket : public testing::each_backend {
 protected:
  task<net::tcp_stream> connected() { co_return std::move((co_await world().connect()).stream()); }

  static fields asking(std::string_view path, const fields& more = {}) {
    fields all{{":method", "CONNECT"}, {":protocol", "websocket"}, {":scheme", "http"},
               {":path", path},        {":authority", "one"},      {"sec-websocket-version", "13"}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// Its stream, once it is answered.
  static task<std::int32_t> open(http2_client& client, std::string_view path = "/",
                                 fields more = {}) {
    const std::int32_t id = client.begin_with(asking(path, more), false);
    co_await client.until([&] { return client.so_far(id).status != 0; });
    EXPECT_EQ(client.so_far(id).status, 200);
    co_return id;
  }
  static task<std::string> receive(http2_client& client, std::int32_t id, std::size_t size) {
    co_await client.until([&] { return client.so_far(id).body.size() >= size; });
    co_return std::exchange(client.so_far(id).body, {});
  }
  [[nodiscard]] std::int64_t counted(std::string_view name) {
    const auto seen = world().metrics().read();
    const auto* const found = seen.find(name);
    return found == nullptr ? -1 : found->value;
  }
};
INSTANTIATE_TEST_SUITE_P(on, http2_websocket, backends, backend_name);

TEST_P(http2_websocket, is_opened_by_an_extended_connect) {
  http().websocket("/", &echo_each,
                   {.subprotocols = {"chat"}, .compression = websocket_compression::single});
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t id = co_await open(client, "/",
                                          {{"sec-websocket-protocol", "x, chat"},
                                           {"sec-websocket-extensions", "permessage-deflate"}});
    EXPECT_NE(nghttp2_session_get_remote_settings(client.library(),
                                                  NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL),
              0U);
    const http2_reply& answer = client.so_far(id);
    EXPECT_EQ(answer.field("sec-websocket-protocol"), "chat");
    EXPECT_TRUE(answer.field("sec-websocket-extensions").has_value());
    for (const std::string_view name :
         {"upgrade", "connection", "sec-websocket-accept", "content-length"})
      EXPECT_FALSE(answer.field(name).has_value()) << name;
    EXPECT_EQ(counted("http_websockets"), 1);
    client.give(id, frame_text(opcode::text, "hello"), false);
    EXPECT_EQ(co_await receive(client, id, short_head_bytes + 5),
              from_server(opcode::text, "hello"));
  });
  EXPECT_EQ(counted("http_websockets"), 0);
}

TEST_P(http2_websocket, stands_beside_requests_and_others) {
  http().get("/now", [] { return "now"; });
  http().websocket("/", &echo_each);
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t one = co_await open(client);
    const std::int32_t two = co_await open(client);
    client.give(one, frame_text(opcode::text, "1"), false);
    client.give(two, frame_text(opcode::text, "2"), false);
    EXPECT_EQ((co_await client.ask("GET", "/now")).body, "now");
    EXPECT_EQ(co_await receive(client, one, 3), from_server(opcode::text, "1"));
    EXPECT_EQ(co_await receive(client, two, 3), from_server(opcode::text, "2"));
  });
}

TEST_P(http2_websocket, takes_messages_beyond_every_window) {
  http().websocket("/", &echo_each);
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t id = co_await open(client);
    const std::string large(700'000, 'x');
    client.give(id, frame_text(opcode::binary, large), false);
    const std::string back = from_server(opcode::binary, large);
    EXPECT_TRUE(co_await receive(client, id, back.size()) == back);
  });
}

TEST_P(http2_websocket, ends_in_good_order) {
  http().websocket("/", &echo_each);
  http().websocket(
      "/short", [](websocket& socket) -> task<void> { std::ignore = co_await socket.send("bye"); });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t id = co_await open(client);
    client.give(id, frame_text(opcode::close, close_payload(1000)), true);
    const http2_reply closed = co_await client.reply(id);
    EXPECT_EQ(closed.body, from_server(opcode::close, close_payload(1000)));
    EXPECT_EQ(closed.error, NGHTTP2_NO_ERROR);
    // And by the server, which waits for the client's answer.
    const std::int32_t other = co_await open(client, "/short");
    const std::string said =
        from_server(opcode::text, "bye") + from_server(opcode::close, close_payload(1000));
    co_await client.until([&] { return client.so_far(other).body.size() >= said.size(); });
    EXPECT_EQ(client.so_far(other).body, said);
    client.give(other, frame_text(opcode::close, close_payload(1000)), true);
    const http2_reply left = co_await client.reply(other);
    EXPECT_TRUE(left.is_whole);
    EXPECT_EQ(left.error, NGHTTP2_NO_ERROR);
    co_await client.until([&] { return counted("http_websockets") == 0; });
  });
}

TEST_P(http2_websocket, is_refused_as_over_http_1) {
  http().get("/page", [] { return "a page"; });
  http().get("/pieces", [](body_writer& out) -> task<result<void>> {
    std::ignore = co_await out.write("a piece");
    co_return co_await out.write("another");
  });
  http().websocket("/", &echo_each);
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const auto ask = [&](const fields& all) -> task<int> {
      const http2_reply answer = co_await client.reply(client.begin_with(all, false));
      EXPECT_TRUE(answer.status == 0 || answer.is_whole);
      co_return answer.status;
    };
    EXPECT_EQ(co_await ask(asking("/nowhere")), 404);
    EXPECT_EQ(co_await ask(asking("/", {{"origin", "http://evil.example"}})), 403);
    fields other = asking("/");
    other[1].second = "connect-udp";
    EXPECT_EQ(co_await ask(other), 501);
    other = asking("/");
    other.pop_back();  // the version
    EXPECT_EQ(co_await ask(other), 400);
    other.emplace_back("sec-websocket-version", "12");
    EXPECT_EQ(co_await ask(other), 426);
    // What would be a success would be a tunnel.
    EXPECT_EQ(co_await ask(asking("/page")), 501);
    EXPECT_EQ(co_await ask(asking("/pieces")), 501);
    EXPECT_EQ((co_await client.ask("GET", "/")).status, 426);
    EXPECT_EQ((co_await client.ask("GET", "/page")).body, "a page");
  });
}

TEST_P(http2_websocket, ends_with_its_stream_and_with_its_connection) {
  error told = errc::closed;
  event is_over;
  http().websocket("/", [&](websocket& socket) -> task<void> {
    const auto message = co_await socket.read();
    if (!message) told = message.error();
    is_over.set();
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t id = co_await open(client);
    client.reset(id);
    co_await client.send();
    std::ignore = co_await is_over.wait();
    EXPECT_EQ(told, errc::reset);
    is_over.reset();
    {
      http2_client gone{co_await connected()};
      std::ignore = co_await open(gone);
    }
    std::ignore = co_await is_over.wait();
  });
}

TEST_P(http2_websocket, cuts_who_resets_all_it_opens) {
  limits bounds;
  bounds.http2.resets_per_second = 1;
  serve_within(bounds);
  http().websocket("/", &echo_each);
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    for (int i = 0; i < 11 && !client.goaway(); ++i) {
      const std::int32_t id = client.begin_with(asking("/"), false);
      co_await client.until([&] { return client.so_far(id).status != 0; });
      client.reset(id);
    }
    EXPECT_EQ(co_await client.end(), NGHTTP2_ENHANCE_YOUR_CALM);
  });
}

TEST_P(http2_websocket, is_reset_where_the_client_never_ends_it) {
  http().websocket("/", [](websocket&) -> task<void> { co_return; },
                   {.limits = {.close_timeout = std::chrono::milliseconds{20}}});
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t id = co_await open(client);
    const http2_reply ended = co_await client.reply(id);
    EXPECT_EQ(ended.error, NGHTTP2_CANCEL);
    EXPECT_EQ(ended.body, from_server(opcode::close, close_payload(1000)));
  });
}

TEST_P(http2_websocket, lets_a_sender_wait_for_the_clients_window) {
  std::size_t sent = 0;
  http().websocket("/", [&](websocket& socket) -> task<void> {
    const std::string much(50'000, 'x');
    while (co_await socket.send({message_kind::binary, much})) ++sent;
  });
  run([&]() -> task<void> {
    http2_client client{co_await connected(), {.takes_bodies = false}};
    const std::int32_t id = co_await open(client);
    co_await client.until([&] { return client.so_far(id).body.size() >= 65'535; });
    EXPECT_EQ(client.so_far(id).body.size(), 65'535U);
    EXPECT_LE(sent, 4U);
    client.reset(id);
    co_await client.send();
  });
}

TEST_P(http2_websocket, says_goodbye_when_the_server_ends) {
  http().websocket("/", &echo_each);
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t id = co_await open(client);
    scope ending{co_await this_task::environment()};
    ending.spawn([](http::server& http) -> task<void> {
      EXPECT_TRUE((co_await http.stop()).has_value());
    }(http()));
    const std::string goodbye = from_server(opcode::close, close_payload(1001, "the server ends"));
    co_await client.until([&] { return client.so_far(id).body.size() >= goodbye.size(); });
    EXPECT_EQ(client.so_far(id).body, goodbye);
    client.give(id, frame_text(opcode::close, close_payload(1001)), true);
    EXPECT_EQ((co_await client.reply(id)).error, NGHTTP2_NO_ERROR);
    co_await ending.join();
  });
}

TEST_P(http2_websocket, allocates_nothing_for_a_warm_message) {
  frame_pool::deallocate(frame_pool::allocate(64), 64);
  const testing::allocation_counter of_frame;
  frame_pool::deallocate(frame_pool::allocate(64), 64);
  if (of_frame.allocations() != 0) GTEST_SKIP() << "frames come from the heap in this build";
  http().websocket("/", &echo_each);
  run([&]() -> task<void> {
    http2_client client{co_await connected()};
    const std::int32_t id = co_await open(client);
    const std::string frame = frame_text(opcode::text, "a message of usual length");
    const std::size_t back = frame.size() - sizeof(std::uint32_t);  // without its mask
    const auto exchange = [&]() -> task<void> {
      for (int i = 0; i != 100; ++i) {
        client.give(id, frame, false);
        co_await client.until([&] { return client.so_far(id).body.size() >= back; });
        client.so_far(id).body.clear();
      }
    };
    co_await exchange();
    const testing::allocation_counter since;
    co_await exchange();
    const std::size_t allocations = since.allocations();
    EXPECT_EQ(allocations, 0U);
  });
}

}  // namespace
}  // namespace weft::http::http2
