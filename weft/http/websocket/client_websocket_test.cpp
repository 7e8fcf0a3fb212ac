// WebSockets of the client, against the server and against who answers what he should not.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tests/conformance/websocket_peer.hpp>
#include <weft/coro/with_deadline.hpp>
#include <weft/http/websocket/handshake.hpp>
#include <weft/http/websocket/topic.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http::ws {
namespace {

using namespace std::chrono_literals;
using testing::backend_name;
using testing::backends;

task<void> repeat_all(websocket& socket) {
  while (auto message = co_await socket.read())
    if (!co_await socket.send(*message)) co_return;
}

class client_websocket_test : public testing::client_fixture {
 protected:
  [[nodiscard]] std::string ws_url(std::string_view path) { return "ws" + url(path).substr(4); }
  [[nodiscard]] static std::string ws_url(const testing::scripted_server& server) {
    return "ws" + server.url().substr(4);
  }
};
INSTANTIATE_TEST_SUITE_P(on, client_websocket_test, backends, backend_name);

TEST_P(client_websocket_test, talks_to_a_server_and_closes_in_good_order) {
  http().websocket("/", &repeat_all);
  run_with_client([&](client& asking) -> task<void> {
    auto opened = co_await asking.open_websocket(ws_url("/"));
    if (!opened) co_return ADD_FAILURE() << opened.error().message(), void();
    websocket& socket = *opened;
    for (const std::size_t size : {0UZ, 1UZ, 125UZ, 126UZ, 4'000UZ, 70'000UZ, 900'000UZ}) {
      const std::string text(size, 'c');
      EXPECT_TRUE(co_await socket.send(text));
      const auto back = co_await socket.read();
      EXPECT_TRUE(back && back->is_text() && back->data == text) << size;
    }
    EXPECT_TRUE(co_await socket.send_binary("\xff"));
    const auto bytes = co_await socket.read();
    EXPECT_TRUE(bytes && !bytes->is_text() && bytes->data == "\xff");
    EXPECT_EQ(counted("http_client_websockets"), 1);
    EXPECT_TRUE(co_await socket.close(close_code{4002}, "done"));
    EXPECT_EQ(socket.end().code, close_code{4002});
    EXPECT_EQ((co_await socket.read()).error(), errc::closed);
  });
}

TEST_P(client_websocket_test, agrees_on_a_subprotocol_and_on_compression) {
  std::vector<std::string> spoken;
  for (const auto how : {websocket_compression::single, websocket_compression::context}) {
    http().websocket(how == websocket_compression::single ? "/single" : "/context",
                     [&](websocket& socket) -> task<void> {
                       spoken.emplace_back(socket.subprotocol());
                       co_await repeat_all(socket);
                     },
                     {.subprotocols = {"two", "one"}, .compression = how});
  }
  run_with_client([&](client& asking) -> task<void> {
    const std::string text = testing::repeated("a text that gets shorter ", 200);
    for (const std::string_view path : {"/single", "/context"}) {
      for (const auto how : {websocket_compression::off, websocket_compression::single,
                             websocket_compression::context}) {
        auto opened = co_await asking.open_websocket(
            ws_url(path), {.subprotocols = {"one", "two"}, .compression = how});
        if (!opened) co_return ADD_FAILURE() << opened.error().message(), void();
        EXPECT_EQ(opened->subprotocol(), "two");
        for (int i = 0; i != 3; ++i) {
          EXPECT_TRUE(co_await opened->send(text));
          const auto back = co_await opened->read();
          EXPECT_TRUE(back && back->data == text);
        }
        EXPECT_TRUE(co_await opened->close());
      }
    }
  });
  EXPECT_EQ(spoken, std::vector<std::string>(6, "two"));
}

TEST_P(client_websocket_test, says_why_there_is_none) {
  http().get("/plain", [] { return "plain"; });
  http().websocket("/pages-of-ours", &repeat_all);
  run_with_client([&](client& asking) -> task<void> {
    const auto wrong = co_await asking.open_websocket(url("/plain"));
    EXPECT_EQ(wrong.error(), errc::invalid_argument);
    const auto plain = co_await asking.open_websocket(ws_url("/plain"));
    EXPECT_EQ(plain.error(), errc::invalid_argument);
    EXPECT_EQ(plain.error().answered(), status::ok);
    const auto nowhere = co_await asking.open_websocket(ws_url("/nowhere"));
    EXPECT_EQ(nowhere.error(), errc::not_found);
    EXPECT_TRUE(nowhere.error().message().contains("404")) << nowhere.error().message();
    const auto foreign = co_await asking.open_websocket(
        client_request{method::get, ws_url("/pages-of-ours")}.header("Origin", "http://evil.test"));
    EXPECT_EQ(foreign.error().answered(), status::forbidden);
    const auto senseless =
        co_await asking.open_websocket(ws_url("/plain"), {.subprotocols = {"a\r\nb: c"}});
    EXPECT_EQ(senseless.error(), errc::invalid_argument);
    EXPECT_TRUE(senseless.error().message().contains("subprotocols"));
  });
}

/// Of what came: its key.
std::string key_of(std::string_view request) {
  constexpr std::string_view name = "Sec-WebSocket-Key: ";
  const std::size_t at = request.find(name);
  return at == request.npos ? std::string{} : std::string{request.substr(at + name.size(), 24)};
}

/// A server that answers a handshake with `fields`, of which %s is the right Sec-WebSocket-Accept.
testing::scripted_server::script answering(std::string fields, std::string then = {}) {
  return [fields, then](unsigned, testing::http_client& peer) -> task<void> {
    std::string request;
    while (!request.contains("\r\n\r\n")) {
      const std::string more = co_await peer.receive();
      if (more.empty()) co_return;
      request += more;
    }
    std::string answer = fields;
    if (const std::size_t at = answer.find("%s"); at != answer.npos)
      answer.replace(at, 2, accept_value{key_of(request)}.text());
    co_await peer.send("HTTP/1.1 101 Switching Protocols\r\n" + answer + "\r\n" + then);
    co_await peer.rest();
  };
}

constexpr std::string_view right =
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n";

TEST_P(client_websocket_test, fails_an_answer_that_is_not_to_the_letter) {
  const std::string ok{right};
  for (const std::string& fields :
       {std::string{"Upgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n"},
        std::string{"Upgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n"},
        std::string{"Upgrade: websocket\r\nConnection: Upgrade\r\n"},
        std::string{"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: wrong\r\n"},
        ok + "Sec-WebSocket-Protocol: chat\r\n",
        ok + "Sec-WebSocket-Extensions: permessage-deflate\r\n",
        ok + "Sec-WebSocket-Accept: %s\r\n"}) {
    serve(GetParam());
    run_against(answering(fields), {},
                [&](client& asking, testing::scripted_server& server) -> task<void> {
                  const auto opened = co_await asking.open_websocket(ws_url(server));
                  EXPECT_FALSE(opened) << fields;
                  if (!opened)
                    EXPECT_EQ(opened.error(), errc::protocol_error) << opened.error().message();
                });
  }
}

TEST_P(client_websocket_test, reads_what_comes_right_behind_the_answer) {
  run_against(answering(std::string{right}, frame_text(opcode::text, "at once", {}, role::server)),
              {}, [&](client& asking, testing::scripted_server& server) -> task<void> {
                auto opened = co_await asking.open_websocket(ws_url(server));
                EXPECT_EQ((co_await opened->read())->data, "at once");
                std::ignore = co_await opened->send("then");
              });
}

TEST_P(client_websocket_test, fails_a_server_that_masks) {
  run_against(answering(std::string{right}, frame_text(opcode::text, "masked", {}, role::client)),
              {}, [&](client& asking, testing::scripted_server& server) -> task<void> {
                auto opened = co_await asking.open_websocket(ws_url(server));
                EXPECT_EQ((co_await opened->read()).error(), errc::protocol_error);
                EXPECT_EQ(opened->end().code, close_code::protocol_error);
              });
}

TEST_P(client_websocket_test, keeps_its_deadlines) {
  run_against([](unsigned, testing::http_client& peer) -> task<void> { co_await peer.rest(); }, {},
              [&](client& asking, testing::scripted_server& server) -> task<void> {
                const auto opened =
                    co_await with_timeout(20ms, asking.open_websocket(ws_url(server)));
                EXPECT_EQ(opened.error(), errc::timed_out);
              });
}

TEST_P(client_websocket_test, is_cut_when_the_client_has_stopped) {
  std::string seen;
  http().websocket("/", [&](websocket& socket) -> task<void> {
    seen = (co_await socket.read()) ? "a message"
                                    : std::to_string(std::to_underlying(socket.end().code));
  });
  run([&]() -> task<void> {
    client asking{{}, loop(), world().metrics().shard(0)};
    auto opened = co_await asking.open_websocket(ws_url("/"));
    EXPECT_TRUE(co_await asking.stop());
    EXPECT_EQ((co_await opened->read()).error(), errc::reset);
    EXPECT_FALSE(opened->is_open());
    const auto late = co_await asking.open_websocket(ws_url("/"));
    EXPECT_EQ(late.error(), errc::unavailable);
  });
  EXPECT_EQ(seen, "1001");
}

TEST_P(client_websocket_test, is_sent_what_a_topic_publishes) {
  http().websocket("/", &repeat_all);
  run_with_client([&](client& asking) -> task<void> {
    auto opened = co_await asking.open_websocket(ws_url("/"));
    if (!opened) co_return ADD_FAILURE() << opened.error().message(), void();
    topic news;
    const subscription to_news{news, *opened};
    EXPECT_EQ(news.publish_now("masked"), 1U);
    const auto back = co_await opened->read();
    EXPECT_TRUE(back && back->data == "masked");
  });
}

TEST_P(client_websocket_test, goes_through_a_tunnel_where_there_is_a_proxy) {
  http().websocket("/", &repeat_all);
  std::string asked_for;
  run([&]() -> task<void> {
    // A proxy that is the way to the server, whatever it is asked for.
    testing::scripted_server proxy{loop(), co_await this_task::environment(),
                                   [&](unsigned, testing::http_client& peer) -> task<void> {
                                     asked_for = co_await peer.receive();
                                     auto further = co_await world().connect();
                                     co_await peer.send("HTTP/1.1 200 OK\r\n\r\n");
                                     co_await further.send(co_await peer.receive());
                                     co_await peer.send(co_await further.receive());
                                     co_await further.send(co_await peer.receive());
                                     co_await peer.send(co_await further.receive());
                                   }};
    client asking{{.proxy = proxy.url(""), .no_proxy = {}}, loop(), world().metrics().shard(0)};
    auto opened = co_await asking.open_websocket("ws://feed.test/");
    if (!opened) co_return ADD_FAILURE() << opened.error().message(), void();
    EXPECT_TRUE(asked_for.starts_with("CONNECT feed.test:80 HTTP/1.1\r\n")) << asked_for;
    EXPECT_TRUE(co_await opened->send("hello"));
    EXPECT_EQ((co_await opened->read())->data, "hello");
    EXPECT_TRUE(co_await asking.stop());
    co_await proxy.stop();
  });
}

}  // namespace
}  // namespace weft::http::ws
