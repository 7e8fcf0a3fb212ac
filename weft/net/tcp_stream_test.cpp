#include <weft/net/tcp_stream.hpp>
#include <weft/base/format.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/net/loopback_test.hpp>

namespace weft::net {
namespace {

using tcp_stream_test = loopback;
/// With peers that are no weft streams, or what only the kernel has.
using tcp_stream_on_sockets_test = loopback;

INSTANTIATE_TEST_SUITE_P(backends, tcp_stream_test,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll,
                                           backend_kind::io_uring),
                         backend_name);
INSTANTIATE_TEST_SUITE_P(backends, tcp_stream_on_sockets_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(tcp_stream_test, echoes_from_one_byte_to_ten_mebibytes) {
  run([&]() -> task<void> {
    for (const std::size_t size :
         {1UZ, 2UZ, buffer_pool::slot_capacity - 1, buffer_pool::slot_capacity,
          buffer_pool::slot_capacity + 1, 65'536UZ, 1'000'003UZ, 10'485'760UZ}) {
      auto [client, server] = co_await connected_pair(loop());
      scope peers{co_await this_task::environment()};
      peers.spawn(echo(std::move(server)));
      const std::string sent = pattern(size);
      write_outcome writing;
      peers.spawn(write_once(client, sent, writing));
      const std::string got = co_await read_up_to(client, size);
      EXPECT_TRUE(got == sent) << "size " << size << ", got " << got.size();
      EXPECT_TRUE((co_await client.shutdown()).has_value());
      EXPECT_EQ((co_await client.read()).error(), errc::closed);
      co_await peers.join();
      EXPECT_TRUE(writing.value.has_value());
    }
  });
}

TEST_P(tcp_stream_test, carries_both_directions_at_once) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    const std::string there = pattern(3'000'000);
    const std::string back(2'000'000, 'b');
    auto send_all = [](tcp_stream& stream, const std::string& all) -> task<void> {
      for (std::size_t at = 0; at < all.size(); at += 10'000)
        EXPECT_TRUE((co_await stream.write(std::string_view{all}.substr(at, 10'000))).has_value());
      EXPECT_TRUE((co_await stream.shutdown()).has_value());
    };
    auto expect_all = [](tcp_stream& stream, const std::string& all) -> task<void> {
      EXPECT_TRUE(co_await read_to_end(stream) == all);
    };
    tasks.spawn(send_all(pair.client, there));
    tasks.spawn(send_all(pair.server, back));
    tasks.spawn(expect_all(pair.server, there));
    tasks.spawn(expect_all(pair.client, back));
    co_await tasks.join();
  });
}

TEST_P(tcp_stream_test, reads_into_the_callers_memory_and_keeps_the_rest) {
  run([&]() -> task<void> {
    auto [client, server] = co_await connected_pair(loop());
    EXPECT_TRUE((co_await client.write("hello world")).has_value());
    std::array<char, 4> four{};
    auto got = co_await server.read(four);
    EXPECT_EQ(got.value_or(0), 4U);
    EXPECT_EQ((std::string_view{four.data(), 4}), "hell");
    EXPECT_EQ((co_await server.read(std::span<char>{})).value_or(99), 0U);
    const auto rest = co_await server.read();
    EXPECT_EQ(rest.has_value() ? rest->text() : "", "o world");
  });
}

TEST_P(tcp_stream_test, owns_what_it_is_given) {
  run([&]() -> task<void> {
    auto [client, server] = co_await connected_pair(loop());
    {
      std::string moved(20'000, 'm');
      std::string copied(20'000, 'c');
      std::array<std::byte, 300> bytes;
      bytes.fill(std::byte{'s'});
      buffer_ref buffer = loop().buffers().acquire();
      std::fill_n(buffer.data(), 100, 'b');
      buffer.resize(100);
      EXPECT_TRUE((co_await client.write(std::move(moved))).has_value());
      EXPECT_TRUE((co_await client.write(std::string_view{copied})).has_value());
      EXPECT_TRUE((co_await client.write(std::move(buffer))).has_value());
      EXPECT_TRUE((co_await client.write(std::span<const std::byte>{bytes})).has_value());
      std::ranges::fill(copied, 'X');
      bytes.fill(std::byte{'X'});
    }
    const std::string expected = std::string(20'000, 'm') + std::string(20'000, 'c') +
                                 std::string(100, 'b') + std::string(300, 's');
    EXPECT_TRUE(co_await read_up_to(server, expected.size()) == expected);
  });
}

TEST_P(tcp_stream_test, sends_what_was_prepared_in_one_turn_together) {
  run([&]() -> task<void> {
    auto [client, server] = co_await connected_pair(loop());
    for (int i = 0; i < 50; ++i) {
      const std::span<char> room = client.prepare(10);
      std::ranges::copy(std::string_view{"0123456789"}, room.begin());
      client.commit(10);
    }
    client.append(std::string{"end"});
    const auto bytes = co_await server.read();
    EXPECT_EQ(bytes ? bytes->size() : 0, 503U) << "one segment, one read";
    co_await yield{loop()};  // the answer to the send may stand behind that to the read
    EXPECT_EQ(client.queued_bytes(), 0U);
  });
}

TEST_P(tcp_stream_test, closes_one_direction_and_keeps_the_other) {
  run([&]() -> task<void> {
    auto [client, server] = co_await connected_pair(loop());
    EXPECT_TRUE((co_await client.write("question")).has_value());
    EXPECT_TRUE((co_await client.shutdown()).has_value());
    EXPECT_EQ(co_await read_to_end(server), "question");
    EXPECT_EQ((co_await server.read()).error(), errc::closed) << "and stays ended";
    EXPECT_TRUE((co_await server.write(std::string(100'000, 'a'))).has_value());
    scope tasks{co_await this_task::environment()};
    auto shut = [](tcp_stream& stream) -> task<void> {
      EXPECT_TRUE((co_await stream.shutdown()).has_value());
    };
    tasks.spawn(shut(server));
    EXPECT_EQ((co_await read_to_end(client)).size(), 100'000U);
    co_await tasks.join();
  });
}

TEST_P(tcp_stream_test, sends_no_more_after_shutdown) {
  run([&]() -> task<void> {
    auto [client, server] = co_await connected_pair(loop());
    EXPECT_TRUE((co_await client.shutdown()).has_value());
    auto late = co_await client.write("late");
    if (late) late = co_await client.flush();
    EXPECT_FALSE(late.has_value());
    EXPECT_EQ((co_await server.read()).error(), errc::closed);
  });
}

TEST_P(tcp_stream_test, delivers_what_came_before_the_end) {
  run([&]() -> task<void> {
    auto [client, server] = co_await connected_pair(loop());
    EXPECT_TRUE((co_await client.write("last words")).has_value());
    EXPECT_TRUE((co_await client.close()).has_value());
    EXPECT_FALSE(client.is_open());
    co_await turns(3);
    EXPECT_EQ(co_await read_to_end(server), "last words");
  });
}

TEST_P(tcp_stream_test, reports_a_peer_that_went_away_with_bytes_unread) {
  run([&]() -> task<void> {
    auto [client, server] = co_await connected_pair(loop());
    EXPECT_TRUE((co_await client.write("never read")).has_value());
    EXPECT_TRUE((co_await client.flush()).has_value());
    co_await turns(2);
    EXPECT_TRUE((co_await server.close()).has_value());
    EXPECT_EQ((co_await client.read()).error(), errc::reset);
    EXPECT_FALSE((co_await client.write("to nobody")).has_value() &&
                 (co_await client.flush()).has_value());
    EXPECT_FALSE((co_await client.write("again")).has_value()) << "a broken stream stays broken";
  });
}

TEST_P(tcp_stream_on_sockets_test, reports_a_reset_to_reader_and_writer) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    raw_socket peer = raw_socket::connected_to(listener->local_endpoint());
    auto stream = co_await listener->accept();
    scope tasks{co_await this_task::environment()};
    read_outcome reading;
    write_outcome writing;
    tasks.spawn(read_once(*stream, reading));
    tasks.spawn(write_once(*stream, std::string(20'000'000, 'w'), writing));
    co_await turns(5);
    EXPECT_FALSE(reading.ended);
    EXPECT_FALSE(writing.ended);
    peer.reset();
    co_await tasks.join();
    // A send that was half done answers with the half, and the kernel tells of the reset no second
    // time: then the reader is told of an end, and the reset shows in the next write.
    if (GetParam() == backend_kind::epoll) {
      EXPECT_EQ(code(reading), errc::reset);
    }
    EXPECT_TRUE(code(reading) == errc::reset || code(reading) == errc::closed);
    EXPECT_FALSE(writing.value.has_value());
    EXPECT_EQ(writing.value.error(), errc::reset);
    EXPECT_EQ(stream->queued_bytes(), 0U);
  });
}

TEST_P(tcp_stream_test, refuses_to_connect_where_nobody_listens) {
  run([&]() -> task<void> {
    endpoint where = endpoint::loopback(0);
    {
      auto listener = tcp_listener::bind(loop(), where);
      where = listener->local_endpoint();
    }
    co_await turns(2);
    EXPECT_EQ((co_await tcp_stream::connect(loop(), where)).error(), errc::refused);
  });
}

TEST_P(tcp_stream_test, knows_both_its_ends) {
  run([&]() -> task<void> {
    auto [client, server] = co_await connected_pair(loop());
    EXPECT_EQ(client.peer_endpoint()->to_string(), server.local_endpoint()->to_string());
    EXPECT_EQ(server.peer_endpoint()->to_string(), client.local_endpoint()->to_string());
  });
}

TEST_P(tcp_stream_on_sockets_test, serves_unix_sockets_alike) {
  const std::string path = weft::format("{}weft-stream-{}", ::testing::TempDir(), ::getpid());
  ::unlink(path.c_str());
  run([&]() -> task<void> {
    const endpoint where = endpoint::parse("unix:" + path).value();
    auto listener = tcp_listener::bind(loop(), where);
    EXPECT_TRUE(listener.has_value()) << listener.error().message();
    EXPECT_EQ(listener->local_endpoint().to_string(), "unix:" + path);
    auto client = co_await tcp_stream::connect(loop(), where);
    auto server = co_await listener->accept();
    EXPECT_TRUE((co_await client->write("over a path")).has_value());
    EXPECT_TRUE((co_await client->close()).has_value());
    EXPECT_EQ(co_await read_to_end(*server), "over a path");
  });
  ::unlink(path.c_str());
}

TEST_P(tcp_stream_test, tells_whether_bytes_have_come) {
  run([&]() -> task<void> {
    auto [client, server] = co_await connected_pair(loop());
    EXPECT_FALSE(server.has_input());
    EXPECT_TRUE((co_await client.write("abc")).has_value());
    EXPECT_TRUE((co_await client.flush()).has_value());
    EXPECT_TRUE(server.has_input());
    std::array<char, 2> some{};
    EXPECT_EQ((co_await server.read(some)).value(), 2U);
    EXPECT_TRUE(server.has_input()) << "what is left of a read counts";
    EXPECT_EQ((co_await server.read(some)).value(), 1U);
    EXPECT_FALSE(server.has_input());

    scope tasks{co_await this_task::environment()};
    read_outcome reading;
    tasks.spawn(read_once(server, reading));
    co_await turns(2);
    EXPECT_FALSE(server.has_input());
    EXPECT_TRUE((co_await client.write("d")).has_value());
    EXPECT_TRUE((co_await client.flush()).has_value());
    for (; !reading.ended; co_await yield{loop()})
      EXPECT_TRUE(server.has_input()) << "until the reader has it, wherever it is";
    EXPECT_FALSE(server.has_input());
    co_await tasks.join();
    EXPECT_TRUE((co_await client.shutdown()).has_value());
    co_await turns(2);
    EXPECT_FALSE(server.has_input()) << "the end is none";
  });
}

TEST_P(tcp_stream_test, tells_whether_its_peer_is_still_there) {
  run([&]() -> task<void> {
    auto [client, server] = co_await connected_pair(loop());
    EXPECT_EQ(server.state_of_peer(), peer_state::open);
    EXPECT_TRUE((co_await client.write("abc")).has_value());
    EXPECT_TRUE((co_await client.shutdown()).has_value());
    while (server.state_of_peer() == peer_state::open) co_await yield{loop()};
    EXPECT_EQ(server.state_of_peer(), peer_state::silent);
    EXPECT_EQ(co_await read_to_end(server), "abc") << "nothing was taken";
    EXPECT_EQ(server.state_of_peer(), peer_state::silent);
    EXPECT_TRUE((co_await client.close()).has_value());
    EXPECT_TRUE((co_await server.write("is anybody there?")).has_value());
    EXPECT_TRUE((co_await server.flush()).has_value());
    while (server.state_of_peer() == peer_state::silent) co_await yield{loop()};
    EXPECT_EQ(server.state_of_peer(), peer_state::gone);
  });
}

TEST_P(tcp_stream_test, ends_its_output_after_what_is_queued_without_waiting) {
  const std::string large = pattern(1'000'000);
  run([&]() -> task<void> {
    auto [client, server] = co_await connected_pair(loop());
    server.append(std::string{large});
    server.end_output();
    EXPECT_EQ(co_await read_to_end(client), large);
    EXPECT_TRUE((co_await client.write("go on")).has_value());
    EXPECT_EQ(co_await read_up_to(server, 5), "go on");
  });
}

// A full submission ring is submitted on the way, and a receive that has just been started is then
// answered in the middle of the question.
TEST_P(tcp_stream_on_sockets_test, has_input_that_came_to_its_reader_just_now) {
  constexpr int more_than_fit_a_ring = 1'100;
  run([&]() -> task<void> {
    auto [client, server] = co_await connected_pair(loop());
    std::vector<tcp_stream> far;
    std::vector<tcp_stream> near;
    for (int i = 0; i < more_than_fit_a_ring; ++i) {
      auto [one, other] = co_await connected_pair(loop());
      far.push_back(std::move(one));
      near.push_back(std::move(other));
    }
    EXPECT_TRUE((co_await client.write("abc")).has_value());
    EXPECT_TRUE((co_await client.flush()).has_value());
    bool has_input = false;
    auto fill_the_ring_and_look = [&]() -> task<void> {
      for (tcp_stream& each : near) {
        each.append("x");
        std::ignore = each.pump();
      }
      has_input = server.has_input();
      co_return;
    };
    scope tasks{co_await this_task::environment()};
    read_outcome reading;
    tasks.spawn(read_once(server, reading));
    tasks.spawn(fill_the_ring_and_look());
    co_await tasks.join();
    EXPECT_TRUE(reading.ended);
    EXPECT_TRUE(has_input);
  });
}

}  // namespace
}  // namespace weft::net
