#include <weft/net/tcp_stream.hpp>

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/net/loopback_test.hpp>

namespace weft::net {
namespace {

using tcp_stream_load_test = loopback;
/// With peers that are no weft streams, or what only the kernel has.
using tcp_stream_load_on_sockets_test = loopback;

INSTANTIATE_TEST_SUITE_P(backends, tcp_stream_load_test,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll,
                                           backend_kind::io_uring),
                         backend_name);
INSTANTIATE_TEST_SUITE_P(backends, tcp_stream_load_on_sockets_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(tcp_stream_load_test, stops_hundreds_of_connections_at_once) {
  run([&]() -> task<void> {
    scope servers{co_await this_task::environment()};
    std::vector<tcp_stream> clients;
    for (int i = 0; i < 400; ++i) {
      auto pair = co_await connected_pair(loop());
      servers.spawn(echo(std::move(pair.server)));
      clients.push_back(std::move(pair.client));
    }
    for (tcp_stream& client : clients) EXPECT_TRUE((co_await client.write("busy")).has_value());
    co_await turns(1);
    servers.request_stop();
    co_await servers.join();
    EXPECT_EQ(servers.active(), 0U);
  });
}

TEST_P(tcp_stream_load_test, leaves_nothing_behind_after_thousands_of_connections) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    const endpoint where = listener->local_endpoint();
    std::size_t descriptors = 0;
    std::size_t frames = 0;
    std::size_t buffers = 0;
    for (int i = 0; i < 2'000; ++i) {
      auto client = co_await tcp_stream::connect(loop(), where);
      auto server = co_await listener->accept();
      EXPECT_TRUE((co_await client->write("hello")).has_value());
      EXPECT_EQ(co_await read_up_to(*server, 5), "hello");
      if (i % 2 == 0) {
        EXPECT_TRUE((co_await client->close()).has_value());
        EXPECT_TRUE((co_await server->close()).has_value());
      } else {
        { const tcp_stream dropped = std::move(*client); }
        { const tcp_stream dropped = std::move(*server); }
        co_await turns(3);
      }
      if (i == 99) {
        descriptors = open_descriptors();
        frames = frame_pool::live_frames();
        buffers = loop().buffers().in_use();
      }
    }
    co_await turns(3);
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(frame_pool::live_frames(), frames);
    EXPECT_EQ(loop().buffers().in_use(), buffers);
  });
}

TEST_P(tcp_stream_load_test,
       loses_no_byte_when_more_connections_are_busy_than_the_kernel_has_buffers) {
  constexpr std::size_t connections = 1'200;
  constexpr std::size_t each_bytes = 20'000;
  const descriptor_limit enough{2 * connections + 200};
  run([&]() -> task<void> {
    std::vector<stream_pair> pairs;
    for (std::size_t i = 0; i < connections; ++i) pairs.push_back(co_await connected_pair(loop()));
    scope readers{co_await this_task::environment()};
    const std::string sent = pattern(each_bytes);
    std::size_t complete = 0;
    auto reader = [&](tcp_stream& stream) -> task<void> {
      if (co_await read_to_end(stream) == sent) ++complete;
    };
    auto writer = [&](tcp_stream& stream) -> task<void> {
      EXPECT_TRUE((co_await stream.write(std::string_view{sent})).has_value());
      EXPECT_TRUE((co_await stream.shutdown()).has_value());
    };
    for (stream_pair& pair : pairs) readers.spawn(reader(pair.server));
    co_await turns(3);
    for (stream_pair& pair : pairs) readers.spawn(writer(pair.client));
    co_await readers.join();
    EXPECT_EQ(complete, connections);
  });
}

TEST_P(tcp_stream_load_on_sockets_test, waits_for_buffers_that_others_hold) {
  constexpr std::size_t connections = 300;
  make_loop({.buffers_max = 256});
  const descriptor_limit enough{2 * connections + 200};
  run([&]() -> task<void> {
    std::vector<stream_pair> pairs;
    for (std::size_t i = 0; i < connections; ++i) pairs.push_back(co_await connected_pair(loop()));
    scope readers{co_await this_task::environment()};
    std::vector<buffer_ref> held;
    std::size_t complete = 0;
    auto reader = [&](tcp_stream& stream) -> task<void> {
      auto first = co_await stream.read();
      EXPECT_TRUE(first.has_value());
      if (first) held.push_back(std::move(*first));
      if (co_await read_to_end(stream) == "second") ++complete;
    };
    for (stream_pair& pair : pairs) {
      readers.spawn(reader(pair.server));
      EXPECT_TRUE((co_await pair.client.write(std::string(3, 'f'))).has_value());
    }
    co_await turns(20);
    EXPECT_EQ(held.size(), 256U) << "all there are";
    // More edges for those who wait, while there is nothing to give them.
    for (stream_pair& pair : pairs)
      EXPECT_TRUE((co_await pair.client.write(std::string{"second"})).has_value());
    co_await turns(20);
    EXPECT_EQ(held.size(), 256U);
    for (stream_pair& pair : pairs) EXPECT_TRUE((co_await pair.client.shutdown()).has_value());
    co_await turns(5);
    // Given back in the middle of a turn, with nothing else to wake the loop.
    held.clear();
    co_await readers.join();
    // The other 44 were given both messages in the one buffer they held.
    EXPECT_EQ(complete, 256U);
  });
}

TEST_P(tcp_stream_load_test, holds_few_buffers_for_a_connection_whose_owner_does_not_read) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    EXPECT_TRUE((co_await pair.client.write("first")).has_value());
    EXPECT_EQ(co_await read_up_to(pair.server, 5), "first");
    co_await turns(3);
    const std::size_t before = loop().buffers().in_use();
    write_outcome writing;
    tasks.spawn(write_once(pair.client, pattern(20'000'000), writing));
    co_await turns(100);
    EXPECT_FALSE(writing.ended);
    // io_uring's receive goes on for up to 64 buffers before it hears that four are enough; the
    // others hold none.
    EXPECT_LE(loop().buffers().in_use(), before + (GetParam() == backend_kind::io_uring ? 72 : 0));
    EXPECT_TRUE(co_await read_up_to(pair.server, 20'000'000) == pattern(20'000'000));
    co_await tasks.join();
  });
}

}  // namespace
}  // namespace weft::net
