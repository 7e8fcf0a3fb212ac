// What streams over Unix sockets have that others have not: names without a file, and peers whose
// process is known.
#include <unistd.h>

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/net/address_book.hpp>
#include <weft/net/loopback_test.hpp>

namespace weft::net {
namespace {

using unix_stream_test = loopback;
INSTANTIATE_TEST_SUITE_P(backends, unix_stream_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

/// A name of this process alone.
endpoint abstract_name() {
  return endpoint::parse("unix:@weft-test-" + std::to_string(::getpid())).value();
}

TEST_P(unix_stream_test, listens_and_connects_on_an_abstract_name) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), abstract_name());
    EXPECT_EQ(listener->local_endpoint().to_string(), abstract_name().to_string());
    auto client = co_await tcp_stream::connect(loop(), listener->local_endpoint());
    EXPECT_EQ(client->peer_endpoint()->to_string(), abstract_name().to_string());
    auto server = co_await listener->accept();
    EXPECT_TRUE((co_await client->write("over no network")).has_value());
    EXPECT_TRUE((co_await client->shutdown()).has_value());
    EXPECT_EQ(co_await read_to_end(*server), "over no network");
    EXPECT_EQ(server->peer_endpoint()->to_string(), "unix:") << "the client has no name";
  });
}

TEST_P(unix_stream_test, is_refused_where_nobody_listens) {
  run([&]() -> task<void> {
    const auto nobody = co_await tcp_stream::connect(loop(), abstract_name());
    EXPECT_EQ(nobody.error(), errc::refused);
    const auto no_file =
        co_await tcp_stream::connect(loop(), endpoint::parse("unix:/nowhere/socket").value());
    EXPECT_EQ(no_file.error(), errc::not_found);
  });
}

TEST_P(unix_stream_test, knows_the_process_at_the_other_end) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), abstract_name());
    auto client = co_await tcp_stream::connect(loop(), listener->local_endpoint());
    auto server = co_await listener->accept();
    for (const tcp_stream* stream : {&*client, &*server}) {
      const auto peer = stream->peer();
      EXPECT_EQ(peer.value().pid, ::getpid());
      EXPECT_EQ(peer->uid, ::geteuid());
      EXPECT_EQ(peer->gid, ::getegid());
    }
    const auto pair = co_await connected_pair(loop());
    EXPECT_EQ(pair.client.peer().error(), errc::unsupported);
  });
}

TEST_P(unix_stream_test, shares_an_abstract_name_among_shards_and_with_no_other_program) {
  address_book book;
  auto first = book.listen(loop(), abstract_name().to_string());
  auto second = book.listen(loop(), abstract_name().to_string());
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(address_claim::take(abstract_name()).error(), errc::address_in_use);
  run([&]() -> task<void> {
    auto client = co_await tcp_stream::connect(loop(), abstract_name());
    auto server = co_await second->accept();
    EXPECT_TRUE(server.has_value());
  });
}

TEST(abstract_name, is_free_again_after_its_claim) {
  { EXPECT_TRUE(address_claim::take(abstract_name()).has_value()); }
  EXPECT_TRUE(address_claim::take(abstract_name()).has_value());
}

}  // namespace
}  // namespace weft::net
