// The server behind balancers and proxies: whom it lets in, and whom it takes the client for.
#include <weft/http/server.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/http/request_quota.hpp>
#include <weft/net/tls_files_test.hpp>
#include <weft/net/tls_stream.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::http {
namespace {

using namespace std::chrono_literals;
using testing::backend_name;
using testing::backends;
using testing::http_client;

constexpr std::string_view text_header = "PROXY TCP4 192.0.2.7 198.51.100.1 4711 80\r\n";
/// Version 2: the same client; then the balancer's own connection.
constexpr std::string_view binary_header{
    "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\xc6\x33\x64\x01\x12\x67\0\x50", 28};
constexpr std::string_view local_header{"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", 16};

std::string text_of(const std::optional<net::ip_address>& address) {
  return address ? address->to_string() : "nobody";
}

void say_who(exchange& e) {
  e.reply(status::ok, "text/plain", text_of(e.client()) + " " + std::string{e.request().scheme()});
}

class proxy_server_test : public testing::server_world,
                          public ::testing::WithParamInterface<backend_kind> {
 protected:
  proxy_server_test() {
    options.trusted_proxies = {"0.0.0.0/0", "::/0"};
    options.drain_idle = duration::zero();
  }
  void begin() {
    serve(GetParam(), options);
    http().route(method::get, "/", say_who);
  }

  /// A connection that begins with these bytes.
  task<http_client> coming_as(std::string_view preamble) {
    auto client = co_await world().connect();
    co_await client.send(preamble);
    co_return client;
  }
  std::int64_t refused(std::string_view reason) {
    const auto seen = world().metrics().read();
    const auto* const found =
        seen.find("http_proxy_connections_refused_total", {{"reason", reason}});
    return found == nullptr ? -1 : found->value;
  }

  server_options options;
};
INSTANTIATE_TEST_SUITE_P(on, proxy_server_test, backends, backend_name);

TEST_P(proxy_server_test, knows_the_client_that_the_balancer_names) {
  options.proxy_protocol = proxy_protocol::required;
  begin();
  run([&]() -> task<void> {
    for (const std::string_view header : {text_header, binary_header}) {
      auto client = co_await coming_as(header);
      for (int i = 0; i < 2; ++i)
        EXPECT_EQ((co_await client.ask("GET", "/")).body, "192.0.2.7 http");
    }
    auto own = co_await coming_as(local_header);
    EXPECT_NE((co_await own.ask("GET", "/")).body, "192.0.2.7 http") << "the socket's own";
    auto unknown = co_await coming_as("PROXY UNKNOWN\r\n");
    EXPECT_EQ((co_await unknown.ask("GET", "/")).status, 200);
  });
}

/// A balancer that does not say whom it passes on speaks for nobody else, either.
TEST_P(proxy_server_test, believes_no_field_behind_a_balancer_that_names_nobody) {
  options.proxy_protocol = proxy_protocol::required;
  options.forwarding = forwarding::x_forwarded_for;
  begin();
  run([&]() -> task<void> {
    constexpr std::string_view claim = "X-Forwarded-For: 203.0.113.9\r\n";
    constexpr std::string_view unix_header{"\r\n\r\n\0\r\nQUIT\n\x21\x31\0\xd8", 16};
    const std::string by_unix = std::string{unix_header} + std::string(216, 'x');
    for (const std::string_view hiding :
         {std::string_view{"PROXY UNKNOWN\r\n"}, std::string_view{by_unix}}) {
      auto unknown = co_await coming_as(hiding);
      EXPECT_EQ((co_await unknown.ask("GET", "/", {}, claim)).body.find("203.0.113.9"),
                std::string::npos);
    }
    auto own = co_await coming_as(local_header);
    EXPECT_EQ((co_await own.ask("GET", "/", {}, claim)).body, "203.0.113.9 http");
  });
}

TEST_P(proxy_server_test, takes_a_header_in_pieces_and_a_request_with_it) {
  options.proxy_protocol = proxy_protocol::required;
  begin();
  run([&]() -> task<void> {
    for (const std::string_view header : {text_header, binary_header}) {
      const std::string all = std::string{header} + std::string{testing::plain_get};
      for (const std::size_t cut :
           {std::size_t{1}, header.size() - 1, header.size(), all.size() - 1}) {
        auto client = co_await world().connect();
        co_await client.send(std::string_view{all}.substr(0, cut));
        co_await world().sleep(2ms);
        co_await client.send(std::string_view{all}.substr(cut));
        EXPECT_EQ((co_await client.reply()).body, "192.0.2.7 http") << cut;
      }
      auto at_once = co_await coming_as(all + std::string{testing::plain_get});
      EXPECT_EQ((co_await at_once.reply()).body, "192.0.2.7 http");
      EXPECT_EQ((co_await at_once.reply()).body, "192.0.2.7 http");
    }
  });
}

TEST_P(proxy_server_test, closes_who_sends_no_header_or_a_wrong_one) {
  options.proxy_protocol = proxy_protocol::required;
  options.limits.header_timeout = 50ms;
  begin();
  run([&]() -> task<void> {
    auto plain = co_await coming_as(testing::plain_get);
    EXPECT_EQ(co_await plain.rest(), "") << "without a word";
    auto wrong = co_await coming_as("PROXY TCP4 192.0.2.7 1.2.3 1 2\r\n");
    EXPECT_EQ(co_await wrong.rest(), "");
    EXPECT_EQ(refused("invalid"), 2);
    auto slow = co_await coming_as("PROXY TCP4 ");
    EXPECT_EQ(co_await slow.rest(), "");
    EXPECT_EQ(refused("late"), 1);
    { auto gone = co_await coming_as("PROXY"); }
    co_await world().sleep(20ms);
    EXPECT_EQ(refused("gone"), 1);
    EXPECT_EQ(world().server().connections(), 0U);
  });
}

TEST_P(proxy_server_test, closes_who_is_not_trusted) {
  options.proxy_protocol = proxy_protocol::required;
  options.trusted_proxies = {"203.0.113.0/24"};
  begin();
  run([&]() -> task<void> {
    auto claims = co_await coming_as(text_header);
    EXPECT_EQ(co_await claims.rest(), "");
    EXPECT_EQ(refused("untrusted"), 1);
  });
}

TEST_P(proxy_server_test, counts_who_has_sent_no_header_among_its_connections) {
  options.proxy_protocol = proxy_protocol::required;
  options.limits.connections = 1;
  begin();
  run([&]() -> task<void> {
    auto silent = co_await world().connect();
    co_await world().sleep(20ms);
    auto late = co_await world().connect();
    EXPECT_EQ(co_await late.rest(), "");
    silent.stream().end_output();
    co_await world().sleep(20ms);
    auto next = co_await coming_as(text_header);
    EXPECT_EQ((co_await next.ask("GET", "/")).status, 200);
  });
}

TEST_P(proxy_server_test, reads_the_header_before_the_handshake) {
  net::test_authority authority;
  const net::tls_certificate site = authority.issue("site", {.names = {"site.test"}});
  const auto trusting = net::tls_context::client({.ca = authority.ca()});
  options.tls.certificate = site.certificate;
  options.tls.key = site.key;
  options.proxy_protocol = proxy_protocol::required;
  begin();
  run([&]() -> task<void> {
    net::handshake_gate gate{loop()};
    auto plain = co_await net::tcp_stream::connect(loop(), http().local_endpoint());
    EXPECT_TRUE((co_await plain->write(text_header)).has_value());
    auto stream = co_await net::tls_connect(std::move(*plain), *trusting, "site.test", gate);
    http_client client{std::move(stream.value())};
    EXPECT_EQ((co_await client.ask("GET", "/")).body, "192.0.2.7 https");
    // Whom the header is missing does not get as far as a handshake.
    auto bare = co_await net::tcp_stream::connect(loop(), http().local_endpoint());
    EXPECT_FALSE(
        (co_await net::tls_connect(std::move(*bare), *trusting, "site.test", gate)).has_value());
    EXPECT_EQ(refused("invalid"), 1);
  });
}

TEST_P(proxy_server_test, ends_while_headers_are_waited_for) {
  options.proxy_protocol = proxy_protocol::required;
  begin();
  run([&]() -> task<void> {
    auto silent = co_await coming_as("PROXY");
    co_await world().sleep(20ms);
    environment hasty{.until = deadline::at(loop().now() + 50ms), .runs_on = &loop()};
    EXPECT_TRUE((co_await http().stop().in(hasty)).has_value());
    EXPECT_EQ(co_await silent.rest(), "");
  });
}

TEST_P(proxy_server_test, believes_the_field_of_a_trusted_proxy) {
  options.forwarding = forwarding::forwarded;
  begin();
  run([&]() -> task<void> {
    auto proxy = co_await world().connect();
    const std::string own = (co_await proxy.ask("GET", "/")).body;
    EXPECT_TRUE(own.ends_with(" http"));
    EXPECT_EQ((co_await proxy.ask("GET", "/", {}, "Forwarded: for=192.0.2.7;proto=https\r\n")).body,
              "192.0.2.7 https");
    EXPECT_EQ((co_await proxy.ask("GET", "/", {}, "Forwarded: for=unknown\r\n")).body,
              "nobody http");
    EXPECT_EQ((co_await proxy.ask("GET", "/")).body, own) << "of each request for itself";
    EXPECT_EQ((co_await proxy.ask("GET", "/", {}, "X-Forwarded-For: 192.0.2.7\r\n")).body, own)
        << "one field is believed";
    EXPECT_EQ((co_await proxy.ask("GET", "/", {}, "Forwarded: nonsense\r\n")).status, 400);
  });
}

TEST_P(proxy_server_test, believes_nobody_else) {
  options.trusted_proxies = {"203.0.113.0/24"};
  options.forwarding = forwarding::x_forwarded_for;
  begin();
  run([&]() -> task<void> {
    auto client = co_await world().connect();
    const auto claims = co_await client.ask(
        "GET", "/", {}, "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n");
    EXPECT_FALSE(claims.body.starts_with("203.0.113.9"));
    EXPECT_TRUE(claims.body.ends_with(" http"));
  });
}

TEST_P(proxy_server_test, asks_the_proxy_that_the_balancer_names) {
  options.proxy_protocol = proxy_protocol::required;
  options.trusted_proxies.emplace_back("192.0.2.7");
  options.forwarding = forwarding::x_forwarded_for;
  begin();
  run([&]() -> task<void> {
    auto client = co_await coming_as(text_header);
    const std::string_view fields =
        "X-Forwarded-For: 9.9.9.9, 2001:db8::1\r\nX-Forwarded-Proto: https\r\n";
    EXPECT_EQ((co_await client.ask("GET", "/", {}, fields)).body, "9.9.9.9 https")
        << "of 0.0.0.0/0 and ::/0 each is one more proxy";
  });
}

TEST_P(proxy_server_test, limits_clients_and_not_their_proxy) {
  options.forwarding = forwarding::x_forwarded_for;
  options.trusted_proxies = {"127.0.0.0/8", "10.0.0.0/8", "::1"};
  begin();
  const request_quota quota{{.client = {.requests = 1, .per = 60s, .burst = 1}}, http(), loop()};
  run([&]() -> task<void> {
    auto proxy = co_await world().connect();
    EXPECT_EQ((co_await proxy.ask("GET", "/", {}, "X-Forwarded-For: 192.0.2.7\r\n")).status, 200);
    EXPECT_EQ((co_await proxy.ask("GET", "/", {}, "X-Forwarded-For: 192.0.2.7\r\n")).status, 429);
    EXPECT_EQ((co_await proxy.ask("GET", "/", {}, "X-Forwarded-For: 192.0.2.8\r\n")).status, 200);
  });
}

TEST_P(proxy_server_test, does_not_start_where_it_is_not_said_whom_to_trust) {
  const auto starts = [&](const server_options& with) {
    serve(GetParam(), with);
    try {
      run([]() -> task<void> { co_return; });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  };
  EXPECT_TRUE(starts({}));
  EXPECT_FALSE(starts({.proxy_protocol = proxy_protocol::required}));
  EXPECT_FALSE(starts({.forwarding = forwarding::forwarded}));
  EXPECT_FALSE(starts({.trusted_proxies = {"10.0.0.1/8"}}));
}

}  // namespace
}  // namespace weft::http
