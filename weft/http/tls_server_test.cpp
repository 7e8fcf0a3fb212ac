// The server behind TLS: the same answers, and who is kept waiting or out.
#include <weft/http/server.hpp>

#include <string>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include <weft/coro/with_deadline.hpp>
#include <weft/http/request.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/net/tls_files_test.hpp>
#include <weft/net/tls_stream.hpp>
#include <weft/testing/http_world.hpp>

namespace weft::http {
namespace {

class tls_server_test : public ::testing::TestWithParam<backend_kind> {
 protected:
  tls_server_test() {
    options.tls.certificate = site.certificate;
    options.tls.key = site.key;
    options.drain_idle = duration::zero();
  }

  static task<testing::http_client> secured(testing::http_world& world,
                                            const net::tls_context& context) {
    net::handshake_gate gate{world.loop()};
    auto plain = co_await net::tcp_stream::connect(world.loop(), world.server().local_endpoint());
    auto stream = co_await net::tls_connect(std::move(plain.value()), context, "site.test", gate);
    co_return testing::http_client{std::move(stream.value())};
  }

  net::test_authority authority;
  net::tls_certificate site = authority.issue("site", {.names = {"site.test"}});
  net::tls_context trusting = *net::tls_context::client({.ca = authority.ca()});
  server_options options;
};

INSTANTIATE_TEST_SUITE_P(backends, tls_server_test,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll,
                                           backend_kind::io_uring),
                         [](const auto& of) { return std::string{to_string(of.param)}; });

TEST_P(tls_server_test, answers_as_ever_and_says_how_it_was_asked) {
  testing::http_world world{GetParam(), options};
  const std::string large(300'000, 'l');
  world.server().get("/scheme", [](const request& asked) {
    return std::string{asked.scheme()} + " " + asked.tls()->server_name;
  });
  world.server().get("/large", [&] { return large; });
  world.run([&]() -> task<void> {
    auto client = co_await secured(world, trusting);
    for (int i = 0; i < 3; ++i) {
      const auto small = co_await client.ask("GET", "/scheme");
      EXPECT_EQ(small.body, "https site.test");
      const auto much = co_await client.ask("GET", "/large");
      EXPECT_TRUE(much.body == large);
    }
    EXPECT_EQ(world.server().connections(), 1U);
  });
}

TEST_P(tls_server_test, serves_who_offers_http_1_0_alone) {
  testing::http_world world{GetParam(), options};
  world.server().get("/", [](const request& asked) { return asked.tls()->protocol; });
  const auto old = net::tls_context::client({.ca = authority.ca(), .protocols = {"http/1.0"}});
  const auto both =
      net::tls_context::client({.ca = authority.ca(), .protocols = {"http/1.0", "http/1.1"}});
  ASSERT_TRUE(old.has_value() && both.has_value());
  world.run([&]() -> task<void> {
    auto client = co_await secured(world, *old);
    co_await client.send("GET / HTTP/1.0\r\n\r\n");
    const auto answer = co_await client.reply();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "http/1.0");
    auto newer = co_await secured(world, *both);
    EXPECT_EQ((co_await newer.ask("GET", "/")).body, "http/1.1");
  });
}

TEST_P(tls_server_test, says_http_without_tls) {
  testing::http_world world{GetParam()};
  world.server().get("/scheme", [](const request& asked) {
    return std::string{asked.scheme()} + (asked.tls() == nullptr ? ", plain" : "");
  });
  world.run([&]() -> task<void> {
    auto client = co_await world.connect();
    const auto answer = co_await client.ask("GET", "/scheme");
    EXPECT_EQ(answer.body, "http, plain");
  });
}

TEST_P(tls_server_test, counts_who_shakes_hands_among_its_connections) {
  options.limits.connections = 1;
  testing::http_world world{GetParam(), options};
  world.server().get("/", [] { return "in"; });
  world.run([&]() -> task<void> {
    auto silent = co_await net::tcp_stream::connect(world.loop(), world.server().local_endpoint());
    co_await world.sleep(std::chrono::milliseconds{20});
    auto late = co_await net::tcp_stream::connect(world.loop(), world.server().local_endpoint());
    const auto said = co_await late->read();
    EXPECT_FALSE(said.has_value()) << "closed without a word";
    silent->end_output();
    co_await world.sleep(std::chrono::milliseconds{20});
    auto client = co_await secured(world, trusting);
    const auto answer = co_await client.ask("GET", "/");
    EXPECT_EQ(answer.body, "in");
  });
}

TEST_P(tls_server_test, cuts_who_still_shakes_hands_when_the_time_to_drain_is_over) {
  testing::http_world world{GetParam(), options};
  world.run([&]() -> task<void> {
    auto silent = co_await net::tcp_stream::connect(world.loop(), world.server().local_endpoint());
    co_await world.sleep(std::chrono::milliseconds{20});
    const auto stopped =
        co_await with_timeout(std::chrono::milliseconds{50}, world.server().stop());
    EXPECT_TRUE(stopped.has_value());
    const auto said = co_await silent->read();
    EXPECT_FALSE(said.has_value());
  });
}

TEST_P(tls_server_test, does_not_start_without_its_files) {
  options.tls.key = authority.file("absent.key");
  testing::http_world world{GetParam(), options};
  EXPECT_THROW(world.run([]() -> task<void> { co_return; }), std::system_error);
}

TEST_P(tls_server_test, does_not_serve_in_the_clear_what_was_to_be_secured) {
  const std::string key = options.tls.key;
  for (const tls_options& each :
       {tls_options{.key = key}, tls_options{.clients = net::client_certificates::required},
        tls_options{.minimum = net::tls_version::tls_1_3}}) {
    options.tls = each;
    testing::http_world world{GetParam(), options};
    EXPECT_THROW(world.run([]() -> task<void> { co_return; }), std::system_error);
  }
}

}  // namespace
}  // namespace weft::http
