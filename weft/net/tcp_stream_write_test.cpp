#include <weft/net/tcp_stream.hpp>

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <weft/loop/file.hpp>
#include <weft/net/loopback_test.hpp>
#include <weft/net/no_frames_test.hpp>
#include <weft/testing/allocation_failure.hpp>

namespace weft::net {
namespace {

using tcp_stream_write_test = loopback;
/// With peers that are no weft streams, or what only the kernel has.
using tcp_stream_write_on_sockets_test = loopback;
/// Where minutes take no time.
using tcp_stream_lingering_test = loopback;

INSTANTIATE_TEST_SUITE_P(backends, tcp_stream_write_test,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll,
                                           backend_kind::io_uring),
                         backend_name);
INSTANTIATE_TEST_SUITE_P(backends, tcp_stream_write_on_sockets_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);
INSTANTIATE_TEST_SUITE_P(backends, tcp_stream_lingering_test,
                         ::testing::Values(backend_kind::simulated), backend_name);

/// Whether the system can say that the file is in memory.
bool is_at_hand(const file& of) {
  char seen = 0;
  const iovec one{.iov_base = &seen, .iov_len = 1};
  return ::preadv2(of.fd(), &one, 1, 0, RWF_NOWAIT) == 1;
}

TEST_P(tcp_stream_write_on_sockets_test, sends_of_a_file_what_is_at_hand_behind_what_is_queued) {
  std::string path = ::testing::TempDir() + "weft-sent-XXXXXX";
  const int made = ::mkstemp(path.data());
  const std::string all = pattern(100'000);
  EXPECT_EQ(::write(made, all.data(), all.size()), 100'000);
  ::unlink(path.c_str());
  run([&]() -> task<void> {
    const file from = file::adopt(loop(), made);
    auto pair = co_await connected_pair(loop());
    pair.client.append("head");
    EXPECT_EQ(pair.client.send_from(from, 0, all.size()), 0U) << "it would overtake";
    EXPECT_TRUE((co_await pair.client.flush()).has_value());
    EXPECT_EQ(pair.client.send_from(from, all.size(), 10), 0U) << "there is no more";
    EXPECT_EQ(pair.client.send_from(from, 0, 0), 0U);
    const std::size_t sent = pair.client.send_from(from, 7, 50'000);
    EXPECT_EQ(sent, is_at_hand(from) ? 50'000U : 0U);
    EXPECT_TRUE((co_await pair.client.shutdown()).has_value());
    EXPECT_TRUE(co_await read_to_end(pair.server) == "head" + all.substr(7, sent));
    EXPECT_EQ(pair.client.send_from(from, 0, 10), 0U) << "the output has ended";
  });
}

TEST_P(tcp_stream_write_test, suspends_a_writer_above_the_high_watermark_until_the_low_one) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    std::size_t written = 0;
    std::size_t most_queued = 0;
    std::size_t most_on_return = 0;
    constexpr std::size_t whole = 20'000'000;
    constexpr std::size_t piece = 10'000;
    auto writer = [&]() -> task<void> {
      while (written < whole) {
        const bool low = pair.client.queued_bytes() + piece <= tcp_stream::high_watermark;
        auto write = pair.client.write(std::string(piece, 'w'));
        most_queued = std::max(most_queued, pair.client.queued_bytes());
        const auto done = co_await write;
        EXPECT_TRUE(done.has_value());
        written += piece;
        if (!low) most_on_return = std::max(most_on_return, pair.client.queued_bytes());
      }
      EXPECT_TRUE((co_await pair.client.shutdown()).has_value());
    };
    tasks.spawn(writer());
    std::size_t stuck_at = 0;
    do {
      stuck_at = written;
      co_await turns(20);
    } while (written > stuck_at);
    EXPECT_LT(stuck_at, whole) << "nobody reads, yet the writer goes on";
    EXPECT_GT(pair.client.queued_bytes(), tcp_stream::low_watermark);
    co_await turns(50);
    EXPECT_EQ(written, stuck_at);
    EXPECT_EQ((co_await read_to_end(pair.server)).size(), whole);
    co_await tasks.join();
    EXPECT_LE(most_queued, tcp_stream::high_watermark + piece) << "the queue is bounded";
    EXPECT_LE(most_on_return, tcp_stream::high_watermark);
  });
}

TEST_P(tcp_stream_write_test, resumes_waiting_writers_in_their_order) {
  make_loop({.shuffle_seed = 0});
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    std::string order;
    auto writer = [&](char name) -> task<void> {
      EXPECT_TRUE((co_await pair.client.write(std::string(8'000'000, name))).has_value());
      order += name;
    };
    for (const char name : {'a', 'b', 'c'}) tasks.spawn(writer(name));
    const std::string got = co_await read_up_to(pair.server, 24'000'000);
    co_await tasks.join();
    EXPECT_TRUE(got == std::string(8'000'000, 'a') + std::string(8'000'000, 'b') +
                           std::string(8'000'000, 'c'));
    EXPECT_EQ(order, "abc");
  });
}

TEST_P(tcp_stream_write_test, shows_what_a_slow_reader_has_taken_of_a_large_write) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    constexpr std::size_t whole = 20'000'000;
    auto writer = [&]() -> task<void> {
      EXPECT_TRUE((co_await pair.client.write(std::string(whole, 'w'))).has_value());
    };
    tasks.spawn(writer());
    const std::size_t taken = (co_await read_up_to(pair.server, whole / 2)).size();
    EXPECT_GE(taken, whole / 2);
    EXPECT_LE(pair.client.queued_bytes(), whole * 3 / 4) << "half of it has been read";
    EXPECT_EQ((co_await read_up_to(pair.server, whole - taken)).size(), whole - taken);
    co_await tasks.join();
  });
}

TEST_P(tcp_stream_write_test, flushes_until_the_queue_is_empty) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    pair.client.append(std::string(20'000'000, 'f'));
    write_outcome flushing;
    tasks.spawn(flush_once(pair.client, flushing));
    co_await turns(20);
    EXPECT_FALSE(flushing.ended) << "nobody reads";
    EXPECT_EQ((co_await read_up_to(pair.server, 20'000'000)).size(), 20'000'000U);
    co_await tasks.join();
    EXPECT_TRUE(flushing.value.has_value());
    EXPECT_EQ(pair.client.queued_bytes(), 0U);
  });
}

TEST_P(tcp_stream_write_test, closes_only_after_all_was_sent) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    bool closed = false;
    auto closer = [&]() -> task<void> {
      pair.client.append(std::string(20'000'000, 'c'));
      EXPECT_TRUE((co_await pair.client.close()).has_value());
      closed = true;
    };
    tasks.spawn(closer());
    co_await turns(20);
    EXPECT_FALSE(closed);
    EXPECT_EQ((co_await read_to_end(pair.server)).size(), 20'000'000U);
    co_await tasks.join();
    EXPECT_TRUE(closed);
  });
}

TEST_P(tcp_stream_write_test, delivers_what_a_dropped_stream_had_queued) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    const std::string sent = pattern(20'000'000);
    {
      tcp_stream dropped = std::move(pair.client);
      dropped.append(std::string{sent});
    }
    EXPECT_TRUE(co_await read_to_end(pair.server) == sent);
  });
}

TEST_P(tcp_stream_write_test, gives_up_though_a_send_has_won_the_race) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope others{co_await this_task::environment()};  // while they are ready, a send waits
    others.spawn(turns(2));
    pair.client.append("first");
    EXPECT_TRUE(pair.client.pump());
    pair.client.give_up_output();
    co_await others.join();
    EXPECT_EQ(pair.client.queued_bytes(), 0U);
    const auto more = co_await pair.client.write("more");
    EXPECT_TRUE(!more && more.error() == errc::cancelled);
  });
}

TEST_P(tcp_stream_write_on_sockets_test, keeps_the_loop_running_until_a_dropped_stream_is_done) {
  const std::string sent = pattern(20'000'000);
  raw_socket peer = raw_socket::open();
  std::string got;
  std::thread reader;
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    EXPECT_TRUE(peer.connect(listener->local_endpoint()));
    auto stream = co_await listener->accept();
    stream->append(std::string{sent});
    reader = std::thread{[&] {
      std::string piece(65'536, '\0');
      for (ssize_t size = 0; (size = ::recv(peer.fd(), piece.data(), piece.size(), 0)) > 0;)
        got.append(piece, 0, static_cast<std::size_t>(size));
    }};
  });
  reader.join();
  EXPECT_TRUE(got == sent) << "got " << got.size();
}

TEST_P(tcp_stream_lingering_test, ends_a_dropped_stream_whose_peer_never_reads) {
  std::optional<tcp_stream> deaf;
  const time_point before = loop().now();
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    pair.client.append(std::string(1'000'000, 'd'));
    deaf.emplace(std::move(pair.server));
  });
  EXPECT_GE(loop().now() - before, std::chrono::seconds{5});
  EXPECT_LT(loop().now() - before, std::chrono::seconds{6});
  deaf.reset();
}

TEST_P(tcp_stream_write_test, ends_at_once_when_the_peer_of_a_dropped_stream_goes) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    {
      tcp_stream gone = std::move(pair.client);
      gone.append(std::string(20'000'000, 'd'));
    }
    co_await turns(3);
    const tcp_stream gone = std::move(pair.server);
  });
}

TEST_P(tcp_stream_write_test, may_be_dropped_after_the_loop_has_run) {
  std::optional<tcp_stream> idle;
  std::optional<tcp_stream> filled;
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    idle.emplace(std::move(pair.client));
    filled.emplace(std::move(pair.server));
  });
  filled->append(std::string(100'000, 'q'));
  filled.reset();
  idle.reset();
}

TEST_P(tcp_stream_write_test, fails_where_there_is_no_memory_to_send_with) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "malloc is not ours here";
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    EXPECT_TRUE((co_await pair.client.write("warm")).has_value());  // buffers are pages, too
    EXPECT_EQ(co_await read_up_to(pair.server, 4), "warm");
    {
      const no_frames none;
      const auto outcome = co_await pair.client.write("lost");
      EXPECT_EQ(outcome ? 0 : outcome.error().os_errno(), ENOMEM);
    }
    EXPECT_FALSE((co_await pair.client.write("nor this")).has_value());
    EXPECT_TRUE((co_await pair.server.write("but this arrives")).has_value());
    EXPECT_EQ(co_await read_up_to(pair.client, 16), "but this arrives");
    pair.client.end_output();
    const auto rest = co_await pair.server.read();
    EXPECT_EQ(rest ? std::string{rest->text()} : rest.error().message(),
              error{errc::closed}.message())
        << "nothing behind the gap";
  });
}

TEST_P(tcp_stream_write_test, tells_the_end_where_there_is_no_memory_to_send_with) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "malloc is not ours here";
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    pair.client.append("lost");
    pair.client.end_output();
    {
      const no_frames none;
      EXPECT_FALSE((co_await pair.client.flush()).has_value());
    }
    EXPECT_EQ((co_await pair.server.read()).error(), errc::closed);
  });
}

TEST_P(tcp_stream_write_test, sends_piece_by_piece_where_there_is_no_memory_to_gather) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "malloc is not ours here";
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    EXPECT_TRUE((co_await pair.client.write("warm")).has_value());
    EXPECT_EQ(co_await read_up_to(pair.server, 4), "warm");
    const std::string sent = pattern(40'000);
    pair.client.append(sent.substr(0, 20'000));
    pair.client.append(sent.substr(20'000));
    {
      const no_frames large{272};
      EXPECT_TRUE(pair.client.pump());
    }
    EXPECT_TRUE(co_await read_up_to(pair.server, sent.size()) == sent);
  });
}

}  // namespace
}  // namespace weft::net
