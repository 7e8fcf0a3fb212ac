#include <weft/net/tls_stream.hpp>

#include <cerrno>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include <weft/coro/with_deadline.hpp>
#include <weft/net/no_frames_test.hpp>
#include <weft/net/tls_fixture_test.hpp>
#include <weft/testing/sim_world.hpp>

namespace weft::net {
namespace {

using tls_stream_test = tls_loopback;

INSTANTIATE_TEST_SUITE_P(backends, tls_stream_test,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll,
                                           backend_kind::io_uring),
                         backend_name);

TEST_P(tls_stream_test, gives_what_was_written_and_says_with_whom) {
  server_options.protocols = {"h2", "http/1.1"};
  client_options.protocols = {"http/1.1"};
  for (const tls_version lowest : {tls_version::tls_1_2, tls_version::tls_1_3}) {
    client_options.minimum = lowest;
    make_contexts();
    run([&]() -> task<void> {
      auto pair = co_await shake_hands();
      if (!pair.is_good()) co_return ADD_FAILURE();
      tcp_stream& client = **pair.client;
      tcp_stream& server = **pair.server;
      EXPECT_TRUE((co_await client.write("question")).has_value());
      EXPECT_EQ(co_await read_up_to(server, 8), "question");
      EXPECT_TRUE((co_await server.write("answer")).has_value());
      EXPECT_EQ(co_await read_up_to(client, 6), "answer");
      if (server.tls() == nullptr || client.tls() == nullptr) co_return ADD_FAILURE();
      EXPECT_EQ(server.tls()->version, tls_version::tls_1_3);
      EXPECT_EQ(server.tls()->cipher, client.tls()->cipher);
      EXPECT_EQ(server.tls()->server_name, "site.test");
      EXPECT_EQ(server.tls()->protocol, "http/1.1");
      EXPECT_EQ(server.tls()->peer_subject, "");
      EXPECT_EQ(client.tls()->peer_subject, "CN=site");
      EXPECT_FALSE(server.tls()->is_resumed);
    });
  }
}

TEST_P(tls_stream_test, carries_much_both_ways_at_once) {
  run([&]() -> task<void> {
    auto pair = co_await shake_hands();
    if (!pair.is_good()) co_return ADD_FAILURE();
    const std::string sent = pattern(3'000'000);
    scope tasks{co_await this_task::environment()};
    tasks.spawn(echo(std::move(**pair.server)));
    write_outcome writing;
    tasks.spawn(write_once(**pair.client, sent, writing));
    EXPECT_TRUE((co_await read_up_to(**pair.client, sent.size())) == sent);
    pair.client.reset();
    co_await tasks.join();
    EXPECT_TRUE(writing.value.has_value());
  });
}

TEST_P(tls_stream_test, seals_small_and_large_pieces_in_order) {
  run([&]() -> task<void> {
    auto pair = co_await shake_hands();
    if (!pair.is_good()) co_return ADD_FAILURE();
    tcp_stream& client = **pair.client;
    std::string all;
    for (const std::size_t size : {1U, 16'383U, 16'384U, 16'385U, 5U, 70'000U, 3U, 40'000U}) {
      const std::string text = pattern(size);
      all += text;
      client.append(std::string{text});
    }
    scope tasks{co_await this_task::environment()};
    write_outcome flushing;
    tasks.spawn(flush_once(client, flushing));
    EXPECT_TRUE((co_await read_up_to(**pair.server, all.size())) == all);
    co_await tasks.join();
    EXPECT_TRUE(flushing.value.has_value());
    EXPECT_EQ(client.queued_bytes(), 0U);
  });
}

TEST_P(tls_stream_test, tells_a_good_end_from_a_cut) {
  run([&]() -> task<void> {
    for (const bool says_so : {true, false}) {
      auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
      auto client = co_await tcp_stream::connect(loop(), listener.value().local_endpoint());
      auto between = co_await listener->accept();
      auto behind = co_await connected_pair(loop());
      // What lies between passes everything on, until it is told to cut.
      scope tasks{co_await this_task::environment()};
      const auto pass_on = [](tcp_stream& from, tcp_stream& to) -> task<void> {
        while (auto bytes = co_await from.read())
          if (!co_await to.write(std::move(*bytes))) co_return;
        to.end_output();
      };
      tasks.spawn(pass_on(*between, behind.client));
      tasks.spawn(pass_on(behind.client, *between));
      secured far;
      secured near;
      handshake_gate gate{loop()};
      scope shaking{co_await this_task::environment()};
      shaking.spawn(accept_into(std::move(behind.server), gate, far));
      shaking.spawn(connect_into(std::move(*client), gate, "site.test", near));
      co_await shaking.join();
      if (!far->has_value() || !near->has_value()) co_return ADD_FAILURE();
      EXPECT_TRUE((co_await (*far)->write("all of it")).has_value());
      EXPECT_EQ(co_await read_up_to(**near, 9), "all of it");
      if (says_so)
        EXPECT_TRUE((co_await (*far)->close()).has_value());
      else
        between->end_output();
      read_outcome reading;
      co_await read_once(**near, reading);
      EXPECT_EQ(code(reading), says_so ? errc::closed : errc::reset);
      near.reset();
      far.reset();
      tasks.request_stop();
      co_await tasks.join();
    }
  });
}

TEST_P(tls_stream_test, goes_on_one_way_when_the_other_has_ended) {
  run([&]() -> task<void> {
    auto pair = co_await shake_hands();
    if (!pair.is_good()) co_return ADD_FAILURE();
    EXPECT_TRUE((co_await (*pair.client)->write("last")).has_value());
    EXPECT_TRUE((co_await (*pair.client)->shutdown()).has_value());
    EXPECT_EQ(co_await read_to_end(**pair.server), "last");
    EXPECT_TRUE((co_await (*pair.server)->write("still here")).has_value());
    EXPECT_TRUE((co_await (*pair.server)->shutdown()).has_value());
    EXPECT_EQ(co_await read_to_end(**pair.client), "still here");
  });
}

TEST_P(tls_stream_test, sends_what_is_queued_when_it_is_dropped) {
  run([&]() -> task<void> {
    auto pair = co_await shake_hands();
    if (!pair.is_good()) co_return ADD_FAILURE();
    const std::string sent = pattern(2'000'000);
    (*pair.client)->append(std::string{sent});
    pair.client.reset();
    EXPECT_TRUE((co_await read_up_to(**pair.server, sent.size())) == sent);
    read_outcome reading;
    co_await read_once(**pair.server, reading);
    EXPECT_EQ(code(reading), errc::closed) << "the goodbye stands behind it";
  });
}

TEST_P(tls_stream_test, refuses_what_is_no_tls) {
  run([&]() -> task<void> {
    for (const bool is_shaken : {false, true}) {
      auto plain = co_await connected_pair(loop());
      handshake_gate gate{loop()};
      secured server;
      if (!is_shaken) {
        EXPECT_TRUE((co_await plain.client.write("GET / HTTP/1.1\r\n\r\n")).has_value());
        co_await accept_into(std::move(plain.server), gate, server);
        if (!server) co_return ADD_FAILURE();
        EXPECT_EQ(server->error(), errc::protocol_error);
        continue;
      }
      // A stranger puts a line between the two.
      auto behind = co_await connected_pair(loop());
      secured client;
      scope tasks{co_await this_task::environment()};
      const auto pass_on = [](tcp_stream& from, tcp_stream& to) -> task<void> {
        while (auto bytes = co_await from.read())
          if (!co_await to.write(std::move(*bytes))) co_return;
      };
      tasks.spawn(pass_on(plain.server, behind.client));
      tasks.spawn(pass_on(behind.client, plain.server));
      scope shaking{co_await this_task::environment()};
      shaking.spawn(accept_into(std::move(behind.server), gate, server));
      shaking.spawn(connect_into(std::move(plain.client), gate, "site.test", client));
      co_await shaking.join();
      if (!server->has_value() || !client->has_value()) co_return ADD_FAILURE();
      EXPECT_TRUE((co_await behind.client.write(std::string(100, '\x17'))).has_value());
      read_outcome reading;
      co_await read_once(**server, reading);
      EXPECT_EQ(code(reading), errc::protocol_error);
      EXPECT_FALSE((co_await (*server)->write("more")).has_value());
      server.reset();
      client.reset();
      tasks.request_stop();
      co_await tasks.join();
    }
  });
}

TEST_P(tls_stream_test, takes_a_handshake_byte_by_byte) {
  run([&]() -> task<void> {
    auto plain = co_await connected_pair(loop());
    auto behind = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    const auto dribble = [this](tcp_stream& from, tcp_stream& to) -> task<void> {
      while (auto bytes = co_await from.read())
        for (const char byte : bytes->text()) {
          if (!co_await to.write(std::string_view{&byte, 1})) co_return;
          if (!co_await to.flush()) co_return;
          co_await yield{loop()};
        }
    };
    tasks.spawn(dribble(plain.server, behind.client));
    tasks.spawn(dribble(behind.client, plain.server));
    secured server;
    secured client;
    handshake_gate gate{loop()};
    scope shaking{co_await this_task::environment()};
    shaking.spawn(accept_into(std::move(behind.server), gate, server));
    shaking.spawn(connect_into(std::move(plain.client), gate, "site.test", client));
    co_await shaking.join();
    if (!server->has_value() || !client->has_value()) co_return ADD_FAILURE();
    EXPECT_TRUE((co_await (*client)->write("in crumbs")).has_value());
    EXPECT_EQ(co_await read_up_to(**server, 9), "in crumbs");
    server.reset();
    client.reset();
    tasks.request_stop();
    co_await tasks.join();
  });
}

TEST_P(tls_stream_test, knows_who_the_server_is) {
  test_authority stranger{"stranger"};
  run([&]() -> task<void> {
    auto wrong_name = co_await shake_hands("elsewhere.test");
    EXPECT_EQ(wrong_name.client->error(), errc::protocol_error);
    EXPECT_FALSE(wrong_name.server->has_value()) << "the client has told it so";
    auto wrong_address = co_await shake_hands("127.0.0.1");
    EXPECT_EQ(wrong_address.client->error(), errc::protocol_error);
    client_options.ca = stranger.ca();
    make_contexts();
    auto not_trusted = co_await shake_hands();
    EXPECT_EQ(not_trusted.client->error(), errc::protocol_error);
    EXPECT_EQ((co_await shake_hands("")).client->error(), errc::invalid_argument);
  });
}

TEST_P(tls_stream_test, shows_each_name_its_certificate) {
  server_options.certificates.push_back(authority.issue("shop", {.names = {"shop.test"}}));
  server_options.certificates.push_back(authority.issue("wild", {.names = {"*.wild.test"}}));
  make_contexts();
  run([&]() -> task<void> {
    for (const auto& [host, subject] :
         {std::pair{"site.test", "CN=site"}, std::pair{"shop.test", "CN=shop"},
          std::pair{"a.wild.test", "CN=wild"}}) {
      auto pair = co_await shake_hands(host);
      if (!pair.is_good()) co_return ADD_FAILURE() << host;
      EXPECT_EQ((*pair.client)->tls()->peer_subject, subject);
      EXPECT_EQ((*pair.server)->tls()->server_name, host);
    }
  });
}

TEST_P(tls_stream_test, asks_clients_who_they_are) {
  test_authority stranger{"stranger"};
  const auto ann = authority.issue("ann");
  const auto eve = stranger.issue("eve");
  const auto outcome = [&](client_certificates wanted, const tls_certificate& shown) {
    server_options.clients = wanted;
    server_options.client_ca = wanted == client_certificates::off ? "" : authority.ca();
    client_options.certificate = shown;
    make_contexts();
    std::string subject;
    run([&]() -> task<void> {
      auto pair = co_await shake_hands();
      subject = pair.server->has_value() ? (*pair.server)->tls()->peer_subject : "refused";
    });
    return subject;
  };
  EXPECT_EQ(outcome(client_certificates::off, ann), "") << "nobody has asked";
  EXPECT_EQ(outcome(client_certificates::asked, ann), "CN=ann");
  EXPECT_EQ(outcome(client_certificates::asked, {}), "");
  EXPECT_EQ(outcome(client_certificates::asked, eve), "refused");
  EXPECT_EQ(outcome(client_certificates::required, ann), "CN=ann");
  EXPECT_EQ(outcome(client_certificates::required, {}), "refused");
  EXPECT_EQ(outcome(client_certificates::required, eve), "refused");
}

TEST_P(tls_stream_test, looks_the_whole_chain_up_in_revocation_lists) {
  test_authority below{"below", authority};
  const auto ann = below.issue("ann");
  server_options.clients = client_certificates::required;
  server_options.client_ca = authority.ca();
  client_options.certificate = ann;
  const auto is_let_in = [&] {
    make_contexts();
    bool good = false;
    run([&]() -> task<void> { good = (co_await shake_hands()).server->has_value(); });
    return good;
  };
  EXPECT_TRUE(is_let_in());
  server_options.client_crl = below.revoke({});
  EXPECT_FALSE(is_let_in()) << "the list of the root is missing";
  authority.revoke({});
  server_options.client_crl = below.revoke({}, 1800, &authority);
  EXPECT_TRUE(is_let_in());
  server_options.client_crl = below.revoke({"ann"}, 1800, &authority);
  EXPECT_FALSE(is_let_in());
  authority.revoke({"below"});
  server_options.client_crl = below.revoke({}, 1800, &authority);
  EXPECT_FALSE(is_let_in()) << "who has signed it is revoked";
}

TEST_P(tls_stream_test, a_server_that_is_revoked_is_not_believed) {
  client_options.crl = authority.revoke({});
  make_contexts();
  run([&]() -> task<void> { EXPECT_TRUE((co_await shake_hands()).is_good()); });
  authority.revoke({"site"});
  make_contexts();
  run([&]() -> task<void> {
    EXPECT_EQ((co_await shake_hands()).client->error(), errc::protocol_error);
  });
}

TEST_P(tls_stream_test, speaks_no_protocol_that_the_other_does_not) {
  server_options.protocols = {"http/1.1"};
  client_options.protocols = {"h2"};
  make_contexts();
  run([&]() -> task<void> {
    auto pair = co_await shake_hands();
    EXPECT_EQ(pair.server->error(), errc::protocol_error);
    EXPECT_EQ(pair.client->error(), errc::protocol_error);
    client_options.protocols = {};
    make_contexts();
    auto silent = co_await shake_hands();
    EXPECT_TRUE(silent.is_good()) << "who asks for none is not refused";
  });
}

TEST_P(tls_stream_test, swaps_certificates_for_those_who_come_later) {
  run([&]() -> task<void> {
    auto before = co_await shake_hands();
    authority.issue("site", {.names = {"new.test"}});
    EXPECT_TRUE(server_context->reload().has_value());
    auto old_name = co_await shake_hands("site.test");
    EXPECT_FALSE(old_name.is_good());
    auto after = co_await shake_hands("new.test");
    if (!before.is_good() || !after.is_good()) co_return ADD_FAILURE();
    EXPECT_TRUE((co_await (*before.client)->write("goes on")).has_value());
    EXPECT_EQ(co_await read_up_to(**before.server, 7), "goes on");
  });
}

/// Two hosts, with all that can happen between them: what arrives is what was sent, or less, and
/// who is told a good end has all.
TEST(tls_stream_in_worlds, never_gives_what_was_not_sent) {
  test_authority authority;
  const auto site = authority.issue("site", {.names = {"site.test"}});
  const auto of_server = tls_context::server({.certificates = {site}});
  const auto of_client = tls_context::client({.ca = authority.ca()});
  ASSERT_TRUE(of_server.has_value() && of_client.has_value());
  const std::string sent = pattern(50'000);
  unsigned whole = 0;
  testing::sim_world::for_seeds(30, [&](std::uint64_t seed) {
    testing::sim_world world{seed};
    auto& server = world.add_host("server");
    server.serves([&](testing::sim_shard& shard) -> task<void> {
      auto listener = tcp_listener::bind(shard.loop(), server.endpoint(443));
      if (!listener) co_return;
      handshake_gate gate{shard.loop()};
      scope clients{co_await this_task::environment()};
      const auto serve = [&](tcp_stream plain) -> task<void> {
        auto stream = co_await tls_accept(std::move(plain), *of_server, gate);
        if (stream) co_await echo(std::move(*stream));
      };
      while (auto stream = co_await listener->accept()) clients.spawn(serve(std::move(*stream)));
      clients.request_stop();
      co_await clients.join();
    });
    world.add_host("client").runs([&](testing::sim_shard& shard) -> task<void> {
      handshake_gate gate{shard.loop()};
      for (int tries = 0; tries < 20; ++tries) {
        auto plain = co_await with_timeout(std::chrono::seconds{5},
                                           tcp_stream::connect(shard.loop(), server.endpoint(443)));
        if (!plain) continue;
        auto stream = co_await tls_connect(std::move(*plain), *of_client, "site.test", gate);
        if (!stream) continue;
        stream->append(std::string{sent});
        const std::string got =
            co_await with_timeout(std::chrono::seconds{20}, read_up_to(*stream, sent.size()));
        world.expect(sent.starts_with(got), "what comes back is what was sent");
        if (got != sent) continue;
        ++whole;
        co_return;
      }
    });
    world.run();
  });
  EXPECT_GT(whole, 0U);
}

TEST_P(tls_stream_test, fails_where_there_is_no_memory_to_send_with) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "malloc is not ours here";
  run([&]() -> task<void> {
    auto pair = co_await shake_hands();
    if (!pair.is_good()) co_return ADD_FAILURE();
    tcp_stream& client = **pair.client;
    tcp_stream& server = **pair.server;
    EXPECT_TRUE((co_await client.write("first")).has_value());
    EXPECT_EQ(co_await read_up_to(server, 5), "first");
    {
      const no_frames none;
      const auto outcome = co_await client.write("lost");
      EXPECT_EQ(outcome ? 0 : outcome.error().os_errno(), ENOMEM);
    }
    EXPECT_FALSE((co_await client.write("nor this")).has_value());
    EXPECT_TRUE((co_await server.write("but this arrives")).has_value());
    EXPECT_EQ(co_await read_up_to(client, 16), "but this arrives");
    client.end_output();
    EXPECT_EQ((co_await server.read()).error(), errc::reset) << "nothing behind the gap";
  });
}

}  // namespace
}  // namespace weft::net
