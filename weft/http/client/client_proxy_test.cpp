// The client behind a proxy: requests that name the server whole, tunnels, and whoever refuses
// them.
#include <string>
#include <string_view>

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
      EXPECT_TRUE((co_await through.stop()).has_value());
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

TEST_P(client_proxy, opens_a_tunnel_that_is_not_spoken_to_in_the_clear) {
  expect_no_tunnel("HTTP/1.1 200 Go on\r\n\r\nthis is no TLS", "no TLS with a.test:443");
}

}  // namespace
}  // namespace weft::http
