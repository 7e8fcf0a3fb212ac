// What the tests of secured streams share: an authority, a site, and two ends that have shaken
// hands.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <weft/coro/scope.hpp>
#include <weft/net/loopback_test.hpp>
#include <weft/net/tls_files_test.hpp>
#include <weft/net/tls_stream.hpp>

namespace weft::net {

class tls_loopback : public loopback {
 protected:
  using secured = std::optional<result<tcp_stream>>;

  struct secured_pair {
    secured client;
    secured server;
    [[nodiscard]] bool is_good() const {
      return client && server && client->has_value() && server->has_value();
    }
  };

  void SetUp() override {
    // What OpenSSL keeps for the process is opened before descriptors are counted.
    site = authority.issue("site", {.names = {"site.test"}});
    server_options.certificates = {site};
    client_options.ca = authority.ca();
    make_contexts();
    loopback::SetUp();
  }
  void make_contexts() {
    auto of_server = tls_context::server(server_options);
    auto of_client = tls_context::client(client_options);
    ASSERT_TRUE(of_server.has_value()) << of_server.error();
    ASSERT_TRUE(of_client.has_value()) << of_client.error();
    server_context.emplace(std::move(*of_server));
    client_context.emplace(std::move(*of_client));
  }

  task<void> accept_into(tcp_stream plain, handshake_gate& gate, secured& out) {
    out.emplace(co_await tls_accept(std::move(plain), *server_context, gate));
  }
  task<void> connect_into(tcp_stream plain, handshake_gate& gate, std::string host, secured& out) {
    out.emplace(co_await tls_connect(std::move(plain), *client_context, host, gate));
  }
  task<secured_pair> shake_hands(std::string host = "site.test") {
    auto plain = co_await connected_pair(loop());
    secured_pair made;
    handshake_gate gate{loop()};
    scope tasks{co_await this_task::environment()};
    tasks.spawn(accept_into(std::move(plain.server), gate, made.server));
    tasks.spawn(connect_into(std::move(plain.client), gate, std::move(host), made.client));
    co_await tasks.join();
    co_return made;
  }

  test_authority authority;
  tls_certificate site;
  tls_server_options server_options;
  tls_client_options client_options;
  std::optional<tls_context> server_context;
  std::optional<tls_context> client_context;
};

}  // namespace weft::net
