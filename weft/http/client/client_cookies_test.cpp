// A client with a cookie jar, for each kind of request.
#include <memory>
#include <string>

#include <weft/http/client/cookie_jar.hpp>
#include <weft/http/request.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::client_fixture;
using testing::http_client;
using testing::scripted_server;

class client_cookies : public client_fixture {
 protected:
  void serve_login() {
    http().post("/login", [](const request&) {
      response made{status::see_other, text_plain, "welcome"};
      EXPECT_TRUE(made.add_field("Set-Cookie", "id=7; Path=/; HttpOnly").has_value());
      EXPECT_TRUE(made.add_field("Set-Cookie", "theme=dark; Path=/").has_value());
      EXPECT_TRUE(made.add_field("Set-Cookie", "elsewhere=1; Domain=other.test").has_value());
      EXPECT_TRUE(made.add_field("Location", "/home").has_value());
      return made;
    });
    http().get("/home",
               [](const request& r) { return std::string{r.header("cookie").value_or("none")}; });
    http().get("/logout", [](const request&) {
      response made{status::ok, text_plain, "bye"};
      EXPECT_TRUE(made.add_field("Set-Cookie", "id=; Path=/; Max-Age=0").has_value());
      return made;
    });
  }
  /// `body` has a client with a jar.
  template <class F>
  void run_with_jar(client_options options, F body) {
    run_with_client(std::move(options), [&](client& asking) -> task<void> {
      const auto jar = std::make_shared<cookie_jar>(loop());
      asking.use_cookies(jar);
      co_await body(asking, *jar);
    });
  }
  task<std::string> home(client& asking) {
    auto answer = co_await asking.get(url("/home"));
    co_return answer ? answer->take_body() : answer.error().message();
  }
};
INSTANTIATE_TEST_SUITE_P(on, client_cookies, backends, backend_name);

TEST_P(client_cookies, are_kept_where_there_is_a_jar) {
  serve_login();
  run_with_client({.redirects = 1}, [&](client& asking) -> task<void> {
    const auto without = co_await asking.post(url("/login"), "", text_plain);
    EXPECT_EQ(without->body(), "none");
  });
  for (const client_http2 protocol : {client_http2::off, client_http2::always}) {
    serve(GetParam());
    serve_login();
    run_with_jar({.redirects = 1, .http2 = protocol},
                 [&](client& asking, cookie_jar& jar) -> task<void> {
                   const auto with = co_await asking.post(url("/login"), "", text_plain);
                   EXPECT_TRUE(with.has_value()) << with.error().message();
                   if (with) EXPECT_EQ(with->body(), "id=7; theme=dark") << "by the redirect";
                   EXPECT_EQ(jar.size(), 2U);
                   EXPECT_EQ(co_await home(asking), "id=7; theme=dark");
                   EXPECT_TRUE((co_await asking.get(url("/logout"))).has_value());
                   EXPECT_EQ(co_await home(asking), "theme=dark");
                   asking.use_cookies(nullptr);
                   EXPECT_EQ(co_await home(asking), "none");
                 });
  }
}

TEST_P(client_cookies, of_a_request_go_before_those_of_the_jar) {
  serve_login();
  run_with_jar({}, [&](client& asking, cookie_jar& jar) -> task<void> {
    EXPECT_TRUE(jar.set(url("/"), "id=7").has_value());
    auto own =
        co_await asking.send(client_request{method::get, url("/home")}.header("cookie", "mine=1"));
    EXPECT_EQ(own->body(), "mine=1");
    auto streamed = co_await asking.open({method::get, url("/home")});
    EXPECT_TRUE(streamed.has_value());
    if (streamed) EXPECT_EQ((co_await streamed->read()).value_or("nothing"), "id=7");
  });
}

TEST_P(client_cookies, are_sent_with_websockets) {
  run_with_jar({}, [&](client& asking, cookie_jar& jar) -> task<void> {
    scripted_server server{
        loop(), co_await this_task::environment(), [](unsigned, http_client& peer) -> task<void> {
          const std::string head = co_await peer.receive();
          EXPECT_TRUE(head.contains("\r\nCookie: id=7\r\n")) << head;
          co_await peer.send("HTTP/1.1 403 No\r\nSet-Cookie: seen=1\r\nContent-Length: 0\r\n\r\n");
        }};
    EXPECT_TRUE(jar.set(server.url(), "id=7").has_value());
    const auto socket = co_await asking.open_websocket("ws" + server.url("/chat").substr(4));
    EXPECT_FALSE(socket.has_value());
    EXPECT_EQ(jar.header_for(server.url("/chat")), "id=7; seen=1");
    co_await server.stop();
  });
}

}  // namespace
}  // namespace weft::http
