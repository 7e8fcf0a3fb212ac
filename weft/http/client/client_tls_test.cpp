// The client over TLS: who is believed, and what is said of the others.
#include <string>

#include <weft/http/request.hpp>
#include <weft/net/tls_files_test.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::backend_name;
using testing::backends;
using testing::client_fixture;

class client_tls : public client_fixture {
 protected:
  void serve_as(const net::test_subject& subject) {
    const net::tls_certificate files = authority.issue("site", subject);
    serve(GetParam(), server_options{.drain_idle = duration::zero(),
                                     .tls = {.certificate = files.certificate, .key = files.key}});
    http().get("/", [](const request& r) { return std::string{r.scheme()}; });
  }
  [[nodiscard]] std::string secure_url() { return "https" + url("/").substr(4); }
  void expect_refusal(const client_options& options, std::string_view words) {
    run_with_client(options, [&](client& asking) -> task<void> {
      const auto answer = co_await asking.get(secure_url());
      EXPECT_FALSE(answer.has_value());
      if (answer) co_return;
      EXPECT_EQ(answer.error(), errc::protocol_error);
      EXPECT_TRUE(answer.error().message().contains("no TLS with 127.0.0.1"))
          << answer.error().message();
      EXPECT_TRUE(answer.error().message().contains(words)) << answer.error().message();
    });
  }

  net::test_authority authority;
  client_options trusting{.tls = {.ca = authority.ca()}};
};
INSTANTIATE_TEST_SUITE_P(on, client_tls, backends, backend_name);

TEST_P(client_tls, keeps_secured_connections) {
  serve_as({.names = {"site.test"}, .addresses = {"127.0.0.1"}});
  run_with_client(trusting, [&](client& asking) -> task<void> {
    for (int i = 0; i < 3; ++i) {
      const auto answer = co_await asking.get(secure_url());
      EXPECT_TRUE(answer.has_value()) << answer.error().message();
      if (answer) EXPECT_EQ(answer->body(), "https");
    }
    EXPECT_EQ(http().connections(), 1U);
  });
}

TEST_P(client_tls, opens_websockets_beside_http2) {
  const net::tls_certificate files = authority.issue("site", {.addresses = {"127.0.0.1"}});
  const auto open_twice = [&](client& asking) -> task<void> {
    for (int i = 0; i < 2; ++i) {
      auto socket = co_await asking.open_websocket("wss" + url("/").substr(4));
      EXPECT_TRUE(socket.has_value()) << socket.error().message();
      if (!socket) co_return;
      EXPECT_TRUE(co_await socket->send("hi"));
      const auto back = co_await socket->read();
      EXPECT_TRUE(back && back->data == "hi");
      EXPECT_TRUE(asking.reload().has_value());
    }
  };
  for (const bool speaks_http2 : {true, false}) {
    for (const client_http2 wish : {client_http2::negotiated, client_http2::always}) {
      serve(GetParam(),
            server_options{.drain_idle = duration::zero(),
                           .http2 = speaks_http2,
                           .tls = {.certificate = files.certificate, .key = files.key}});
      http().websocket("/", [](websocket& socket) -> task<void> {
        while (auto message = co_await socket.read())
          if (!co_await socket.send(*message)) co_return;
      });
      client_options options = trusting;
      options.http2 = wish;
      run_with_client(options, open_twice);
    }
  }
}

TEST_P(client_tls, refuses_another_ones_certificate) {
  serve_as({.names = {"site.test"}});
  expect_refusal(trusting, "mismatch");
}

TEST_P(client_tls, refuses_who_is_not_vouched_for) {
  serve_as({.addresses = {"127.0.0.1"}});
  expect_refusal({}, "certificate verify failed");
}

TEST_P(client_tls, refuses_a_certificate_that_has_run_out) {
  serve_as({.addresses = {"127.0.0.1"}, .valid_for_seconds = -60});
  expect_refusal(trusting, "certificate has expired");
}

TEST_P(client_tls, believes_anybody_when_told_to) {
  serve_as({.names = {"site.test"}});
  run_with_client({.tls = {.insecure = true}}, [&](client& asking) -> task<void> {
    const auto answer = co_await asking.get(secure_url());
    EXPECT_TRUE(answer.has_value()) << answer.error().message();
  });
}

TEST_P(client_tls, says_that_a_server_speaks_no_tls) {
  http().get("/", [] { return "plain"; });
  expect_refusal(trusting, "wrong version number");
}

TEST_P(client_tls, says_which_file_is_wrong) {
  serve_as({.addresses = {"127.0.0.1"}});
  run_with_client({.tls = {.ca = "/none.pem"}}, [&](client& asking) -> task<void> {
    const auto answer = co_await asking.get(secure_url());
    EXPECT_EQ(answer.error(), errc::invalid_argument);
    EXPECT_TRUE(answer.error().message().contains("/none.pem")) << answer.error().message();
  });
}

}  // namespace
}  // namespace weft::http
