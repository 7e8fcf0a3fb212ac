// Sessions that go on over another connection, with OpenSSL's own client, which weft's is not.
#include <openssl/ssl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/net/tls_fixture_test.hpp>
#include <weft/net/tls_ticket_keys.hpp>

namespace weft::net {
namespace {

struct free_client {
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL* client) const noexcept { SSL_free(client); }
  void operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }
};
using kept_session = std::unique_ptr<SSL_SESSION, free_client>;

class tls_resumption_test : public tls_loopback {
 protected:
  /// Shakes hands with the server, hears what it says, and gives the session to resume.
  task<kept_session> visit(int version, SSL_SESSION* before, bool& resumed) {
    auto plain = co_await connected_pair(loop());
    const std::unique_ptr<SSL_CTX, free_client> context{SSL_CTX_new(TLS_client_method())};
    SSL_CTX_set_max_proto_version(context.get(), version);
    const std::unique_ptr<SSL, free_client> client{SSL_new(context.get())};
    BIO* const in = BIO_new(BIO_s_mem());
    BIO* const out = BIO_new(BIO_s_mem());
    SSL_set_bio(client.get(), in, out);
    SSL_set_connect_state(client.get());
    if (before != nullptr) SSL_set_session(client.get(), before);

    handshake_gate gate{loop()};
    scope tasks{co_await this_task::environment()};
    const auto serve = [&](tcp_stream stream) -> task<void> {
      auto made = co_await tls_accept(std::move(stream), *server_context, gate);
      if (!made) co_return;
      resumed = (*made).tls()->is_resumed;
      if (co_await made->write("hello")) co_await made->close();
    };
    tasks.spawn(serve(std::move(plain.server)));
    std::string heard;
    while (heard.size() < 5) {
      char room[64];
      const int got = SSL_read(client.get(), room, sizeof room);
      if (got > 0) heard.append(room, static_cast<std::size_t>(got));
      char* bytes = nullptr;
      const long size = BIO_get_mem_data(out, &bytes);
      if (size > 0 &&
          !co_await plain.client.write(std::string{bytes, static_cast<std::size_t>(size)}))
        break;
      BIO_reset(out);
      if (got > 0) continue;
      auto came = co_await plain.client.read();
      if (!came) break;
      BIO_write(in, came->data(), static_cast<int>(came->size()));
    }
    EXPECT_EQ(heard, "hello");
    SSL_shutdown(client.get());
    co_await tasks.join();
    co_return kept_session{SSL_get1_session(client.get())};
  }
  /// Whether a client of `version` that has been here is resumed after `between`.
  template <class F>
  bool resumes(int version, F between) {
    bool resumed = true;
    run([&]() -> task<void> {
      const auto session = co_await visit(version, nullptr, resumed);
      EXPECT_FALSE(resumed);
      between();
      std::ignore = co_await visit(version, session.get(), resumed);
    });
    return resumed;
  }
};

INSTANTIATE_TEST_SUITE_P(backends, tls_resumption_test,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll,
                                           backend_kind::io_uring),
                         backend_name);

TEST_P(tls_resumption_test, goes_on_after_a_reload_and_on_another_shard) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    EXPECT_TRUE(resumes(version, [] {}));
    EXPECT_TRUE(resumes(version, [&] {
      authority.issue("site", {.names = {"site.test"}});
      EXPECT_TRUE(server_context->reload().has_value());
    }));
    const auto shared = std::make_shared<tls_ticket_keys>();
    const auto another = [&] { server_context = *tls_context::server(server_options, shared); };
    another();
    EXPECT_TRUE(resumes(version, another));
  }
}

TEST_P(tls_resumption_test, not_with_the_keys_of_somebody_else) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION})
    EXPECT_FALSE(resumes(version, [&] { make_contexts(); }));
}

TEST_P(tls_resumption_test, only_where_the_same_was_asked_for) {
  const auto shared = std::make_shared<tls_ticket_keys>();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    server_options.clients = client_certificates::off;
    server_options.client_ca.clear();
    server_context = *tls_context::server(server_options, shared);
    EXPECT_FALSE(resumes(version, [&] {
      server_options.clients = client_certificates::asked;
      server_options.client_ca = authority.ca();
      server_context = *tls_context::server(server_options, shared);
    }));
  }
}

}  // namespace
}  // namespace weft::net
