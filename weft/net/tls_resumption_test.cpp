// Sessions that go on over another connection, with OpenSSL's own client, which weft's is not.
#include <openssl/ssl.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include <weft/loop/sleep.hpp>
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

/// The clock that the dates of clients' certificates are judged by: the system's, moved.
std::int64_t moved_by_seconds = 0;
std::int64_t moved_clock() noexcept { return std::time(nullptr) + moved_by_seconds; }

class tls_resumption_test : public tls_loopback {
 protected:
  /// From now on clients must show a certificate; `shown_` is the one.
  void require_certificates(const tls_certificate& shown) {
    moved_by_seconds = 0;
    server_options.clients = client_certificates::required;
    server_options.client_ca = authority.ca();
    server_options.wall_seconds = &moved_clock;
    shown_ = shown;
    make_contexts();
  }
  /// Shakes hands with the server, hears what it says, and gives the session to resume.
  task<kept_session> visit(int version, SSL_SESSION* before, bool& resumed) {
    auto plain = co_await connected_pair(loop());
    const std::unique_ptr<SSL_CTX, free_client> context{SSL_CTX_new(TLS_client_method())};
    SSL_CTX_set_max_proto_version(context.get(), version);
    if (!shown_.certificate.empty()) {
      EXPECT_EQ(SSL_CTX_use_certificate_chain_file(context.get(), shown_.certificate.c_str()), 1);
      EXPECT_EQ(SSL_CTX_use_PrivateKey_file(context.get(), shown_.key.c_str(), SSL_FILETYPE_PEM),
                1);
    }
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
    resumed = false;
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
    was_let_in_ = heard == "hello";
    EXPECT_TRUE(was_let_in_ || !shown_.certificate.empty());
    co_await plain.client.close();
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

  tls_certificate shown_;
  bool was_let_in_ = false;
  std::shared_ptr<tls_ticket_keys> keys_ = std::make_shared<tls_ticket_keys>();
};

/// Where ten minutes pass at once.
class tls_certificate_end_test : public tls_resumption_test {};
INSTANTIATE_TEST_SUITE_P(backends, tls_certificate_end_test,
                         ::testing::Values(backend_kind::simulated), backend_name);

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

TEST_P(tls_resumption_test, not_beyond_the_end_of_the_client_s_certificate) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    require_certificates(authority.issue("ann", {.valid_for_seconds = 1800}));
    run([&]() -> task<void> {
      bool resumed = false;
      auto session = co_await visit(version, nullptr, resumed);
      EXPECT_TRUE(was_let_in_ && !resumed);
      moved_by_seconds = 900;
      session = co_await visit(version, session.get(), resumed);
      EXPECT_TRUE(was_let_in_ && resumed);
      moved_by_seconds = 2000;  // the ticket of the second visit is 1,100 s old
      std::ignore = co_await visit(version, session.get(), resumed);
      EXPECT_FALSE(resumed);
      EXPECT_FALSE(was_let_in_);
      // A client that has renewed its certificate meanwhile shakes hands in full.
      shown_ = authority.issue("ann", {.valid_for_seconds = 3000});
      std::ignore = co_await visit(version, session.get(), resumed);
      EXPECT_FALSE(resumed);
      EXPECT_TRUE(was_let_in_);
    });
  }
}

TEST_P(tls_resumption_test, not_beyond_the_end_of_an_authority_between) {
  test_authority below{"below", authority};
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    require_certificates(below.issue("ann", {.valid_for_seconds = 100'000}));
    EXPECT_TRUE(resumes(version, [] { moved_by_seconds = 2000; }));
    moved_by_seconds = 0;
    EXPECT_FALSE(resumes(version, [] { moved_by_seconds = 3700; })) << "authorities last an hour";
    EXPECT_FALSE(was_let_in_);
  }
}

TEST_P(tls_resumption_test, not_when_others_are_trusted_than_before) {
  test_authority other{"other"};
  const auto ann = authority.issue("ann");
  const auto bob = authority.issue("bob");
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    require_certificates(ann);
    const auto reload = [&](const std::string& ca, const std::string& crl) {
      server_options.client_ca = ca;
      server_options.client_crl = crl;
      const auto setup = tls_context::server(server_options, keys_);
      EXPECT_TRUE(setup.has_value());
      server_context = *setup;
    };
    reload(authority.ca(), "");
    EXPECT_TRUE(resumes(version, [] {}));
    EXPECT_FALSE(resumes(version, [&] { reload(other.ca(), ""); }));
    EXPECT_FALSE(was_let_in_);
    reload(authority.ca(), "");
    EXPECT_FALSE(resumes(version, [&] { reload(authority.ca(), authority.revoke({"ann"})); }));
    EXPECT_FALSE(was_let_in_);
    shown_ = bob;
    EXPECT_TRUE(resumes(version, [] {}));
    EXPECT_TRUE(was_let_in_);
    EXPECT_FALSE(resumes(version, [&] {
      authority.revoke({"ann", "bob"});
      EXPECT_TRUE(server_context->reload().has_value());
    }));
    EXPECT_FALSE(was_let_in_);
  }
}

TEST_P(tls_resumption_test, not_beyond_the_end_of_a_revocation_list) {
  const auto ann = authority.issue("ann");
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    server_options.client_crl = authority.revoke({}, 1000);
    require_certificates(ann);
    EXPECT_TRUE(resumes(version, [] {}));
    EXPECT_FALSE(resumes(version, [] { moved_by_seconds = 2000; }));
    EXPECT_FALSE(was_let_in_) << "what is out of date lets nobody in";
  }
}

TEST_P(tls_certificate_end_test, ends_a_connection_that_is_open) {
  require_certificates(authority.issue("ann", {.valid_for_seconds = 1800}));
  client_options.certificate = shown_;
  make_contexts();
  run([&]() -> task<void> {
    auto pair = co_await shake_hands();
    if (!pair.is_good()) co_return ADD_FAILURE();
    tcp_stream& server = **pair.server;
    EXPECT_TRUE((co_await (*pair.client)->write("a")).has_value());
    EXPECT_EQ(co_await read_up_to(server, 1), "a");
    std::ignore = co_await sleep_for(loop(), std::chrono::seconds{650});
    EXPECT_TRUE((co_await (*pair.client)->write("b")).has_value());
    EXPECT_EQ(co_await read_up_to(server, 1), "b") << "it has not ended yet";
    moved_by_seconds = 2000;
    const auto read = co_await server.read();  // as one does who waits for the next request
    EXPECT_EQ(read.error(), errc::protocol_error);
    EXPECT_FALSE((co_await server.write("too late")).has_value());
  });
}

}  // namespace
}  // namespace weft::net
