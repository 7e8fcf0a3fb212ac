// The client behind a proxy: requests that name the server whole, tunnels, and whoever refuses
// them.
#include <string>
#include <string_view>
#include <utility>

#include <weft/http/request.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::client_fixture;
using testing::http_client;

class client_proxy : public client_fixture {
 protected:
  task<std::string> error_of(client& asking, std::string_view url) {
    const auto answer = co_await asking.get(url);
    co_return answer ? "an answer" : answer.error().message();
  }
  /// "http://ann:secret@127.0.0.1:8080".
  static std::string with_user(std::string_view user, std::string_view proxy) {
    std::string text{proxy};
    return text.insert(text.find("://") + 3, std::string{user} + "@");
  }
  /// `body` has a proxy that plays `script`, and a client that asks it as `user`.
  template <class F>
  void run_as(std::string_view user, testing::scripted_server::script script, F body) {
    run_with_client([&](client&) -> task<void> {
      testing::scripted_server proxy{loop(), co_await this_task::environment(), std::move(script)};
      client through{{.redirects = 3, .proxy = with_user(user, proxy.url())},
                     loop(),
                     world().metrics().shard(0)};
      co_await body(through);
      const auto stopped = co_await through.stop();
      EXPECT_TRUE(stopped.has_value());
      co_await proxy.stop();
    });
  }
  /// What becomes of a tunnel through a proxy that says this to CONNECT.
  void expect_no_tunnel(std::string_view said, std::string_view words) {
    run_with_client([&](client&) -> task<void> {
      testing::scripted_server proxy{
          loop(), co_await this_task::environment(),
          [said](unsigned, http_client& peer) -> task<void> {
            EXPECT_EQ(co_await peer.receive(),
                      "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n");
            co_await peer.send(said);
          }};
      client through{{.proxy = proxy.url()}, loop(), world().metrics().shard(0)};
      const std::string why = co_await error_of(through, "https://a.test/");
      EXPECT_TRUE(why.contains(words)) << why;
      const auto stopped = co_await through.stop();
      EXPECT_TRUE(stopped.has_value());
      co_await proxy.stop();
    });
  }
};
INSTANTIATE_TEST_SUITE_P(on, client_proxy, backends, backend_name);

TEST_P(client_proxy, is_told_whom_to_ask) {
  http().get("/who", [](const request& r) {
    return std::string{r.header("host").value_or("nobody")} + std::string{r.target()};
  });
  run_with_client([&](client&) -> task<void> {
    client asking{{.proxy = url("/")}, loop(), world().metrics().shard(0)};
    for (const std::string_view host : {"a.test", "b.test:8080"}) {
      const auto answer = co_await asking.get("http://" + std::string{host} + "/who?x");
      EXPECT_TRUE(answer.has_value()) << answer.error().message();
      if (answer) EXPECT_TRUE(answer->body().starts_with(host)) << answer->body();
    }
    EXPECT_EQ((co_await asking.get("http://a.test/who"))->status(), status::ok);
    EXPECT_TRUE((co_await asking.stop()).has_value());
  });
}

TEST_P(client_proxy, is_not_asked_about_those_excepted) {
  http().get("/who", [] { return "straight"; });
  const client_options options{.proxy = "http://127.0.0.1:1",
                               .no_proxy = {"127.0.0.1", ".in.test"}};
  run_with_client(options, [&](client& asking) -> task<void> {
    EXPECT_EQ((co_await asking.get(url("/who")))->body(), "straight");
    EXPECT_TRUE((co_await error_of(asking, "http://in.test/")).contains("proxy: "))
        << "what is below is excepted, not itself";
    EXPECT_FALSE((co_await error_of(asking, "http://a.in.test/")).contains("proxy: "));
  });
}

TEST_P(client_proxy, is_spoken_to_by_http1_whatever_is_wished_of_servers) {
  http().get("/who", [](const request& r) { return std::string{r.target()}; });
  run_with_client([&](client&) -> task<void> {
    client asking{
        {.http2 = client_http2::always, .proxy = url("/")}, loop(), world().metrics().shard(0)};
    const auto answer = co_await asking.get("http://a.test/who");
    EXPECT_TRUE(answer.has_value()) << answer.error().message();
    if (answer) EXPECT_EQ(answer->body(), "http://a.test/who");
    EXPECT_TRUE((co_await asking.stop()).has_value());
  });
}

TEST_P(client_proxy, must_be_a_url_of_http) {
  for (const std::string_view wrong : {"proxy:3128", "https://proxy", "http://"}) {
    run_with_client({.proxy = std::string{wrong}}, [&](client& asking) -> task<void> {
      const std::string why = co_await error_of(asking, "http://a.test/");
      EXPECT_TRUE(why.contains("is no proxy: write http://host:port")) << why;
    });
  }
}

TEST_P(client_proxy, may_refuse_a_tunnel) {
  expect_no_tunnel("HTTP/1.1 403 Not for you\r\nContent-Length: 0\r\n\r\n",
                   "the proxy opens no way to a.test:443: 403 Not for you");
}

TEST_P(client_proxy, may_speak_no_http) {
  expect_no_tunnel("SSH-2.0-OpenSSH_9.2\r\n", "the proxy answers what is no HTTP");
}

TEST_P(client_proxy, may_go_away) {
  expect_no_tunnel("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 2", "the proxy does not answer: ");
}

TEST_P(client_proxy, gets_credentials) {
  const auto echo = [](unsigned, http_client& peer) -> task<void> {
    for (;;) {
      const std::string head = co_await peer.receive();
      if (head.empty()) co_return;
      co_await peer.send(
          weft::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", head.size(), head));
    }
  };
  for (const auto& [user, authorization] :
       {std::pair{"ann:secret", "YW5uOnNlY3JldA=="}, std::pair{"ann", "YW5uOg=="},
        std::pair{"a%40b:s%3Ae%2Fc%25", "YUBiOnM6ZS9jJQ=="}, std::pair{"ann:p@ss", "YW5uOnBAc3M="},
        std::pair{"ann:caf\xc3\xa9", "YW5uOmNhZsOp"}})
    run_as(user, echo, [&](client& through) -> task<void> {
      const auto answer = co_await through.get("http://a.test/x");
      EXPECT_TRUE(answer.has_value()) << answer.error().message();
      if (!answer) co_return;
      EXPECT_TRUE(answer->body().starts_with("GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\n"));
      EXPECT_TRUE(answer->body().contains(
          weft::format("\r\nProxy-Authorization: Basic {}\r\n", authorization)))
          << answer->body();
      EXPECT_FALSE(answer->body().contains("\r\nAuthorization:")) << answer->body();
    });
}

TEST_P(client_proxy, gets_credentials_for_a_tunnel) {
  run_as(
      "ann:secret",
      [](unsigned, http_client& peer) -> task<void> {
        EXPECT_EQ(co_await peer.receive(),
                  "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n"
                  "Proxy-Authorization: Basic YW5uOnNlY3JldA==\r\n\r\n");
        co_await peer.send("HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n");
      },
      [&](client& through) -> task<void> {
        const std::string why = co_await error_of(through, "https://a.test/");
        EXPECT_TRUE(why.contains("407")) << why;
        EXPECT_TRUE(why.contains("rejects the user and the password of http.client.proxy")) << why;
        EXPECT_FALSE(why.contains("secret") || why.contains("ann:")) << why;
      });
}

TEST_P(client_proxy, that_requires_credentials_is_an_error) {
  run_as(
      "",
      [](unsigned, http_client& peer) -> task<void> {
        if ((co_await peer.receive()).empty()) co_return;
        co_await peer.send(
            "HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n");
      },
      [&](client& through) -> task<void> {
        const auto answer = co_await through.get("http://a.test/");
        EXPECT_FALSE(answer.has_value());
        if (answer) co_return;
        EXPECT_EQ(answer.error(), errc::refused);
        EXPECT_EQ(answer.error().answered(), status::proxy_authentication_required);
        EXPECT_TRUE(answer.error().message().contains("http://user:password@"))
            << answer.error().message();
      });
}

TEST_P(client_proxy, alone_gets_the_credentials) {
  http().get("/who", [](const request& r) {
    return std::string{r.header("proxy-authorization").value_or("nobody")};
  });
  const client_options options{.proxy = "http://ann:secret@127.0.0.1:1"};
  run_with_client(options, [&](client& asking) -> task<void> {
    const auto answer = co_await asking.get(url("/who"));
    EXPECT_TRUE(answer.has_value()) << answer.error().message();
    if (answer) EXPECT_EQ(answer->body(), "nobody") << "127.0.0.1 is asked without the proxy";
    const auto own = co_await asking.send(
        client_request{method::get, url("/who")}.header("Proxy-Authorization", "Basic eA=="));
    EXPECT_EQ(own.error(), errc::invalid_argument) << "the server would see it";
    const std::string why = co_await error_of(asking, "http://a.test/");
    EXPECT_TRUE(why.contains("proxy: ")) << why;
    EXPECT_FALSE(why.contains("secret") || why.contains("ann:")) << why;
  });
}

TEST_P(client_proxy, has_a_user_that_can_be_sent) {
  for (const std::string_view wrong : {"a%3Ab:secret", "ann:sec%0Aret", "ann:%zz", "ann:%2"}) {
    const client_options options{.proxy = with_user(wrong, "http://127.0.0.1:1")};
    EXPECT_EQ(options.faults().size(), 1U) << wrong;
    run_with_client(options, [&](client& asking) -> task<void> {
      const auto answer = co_await asking.get("http://a.test/");
      EXPECT_EQ(answer.error(), errc::invalid_argument);
      const std::string& why = answer.error().message();
      EXPECT_TRUE(why.contains("is no proxy") && why.contains("user")) << why;
      EXPECT_FALSE(why.contains("sec")) << why;
    });
  }
}

TEST_P(client_proxy, opens_a_tunnel_that_is_not_spoken_to_in_the_clear) {
  expect_no_tunnel("HTTP/1.1 200 Go on\r\n\r\nthis is no TLS", "no TLS with a.test:443");
}

}  // namespace
}  // namespace weft::http
