#include <weft/net/tcp_stream.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/net/loopback_test.hpp>

namespace weft::net {
namespace {

using tcp_stream_test = loopback;
/// With peers that are no weft streams.
using tcp_stream_on_sockets_test = loopback;

INSTANTIATE_TEST_SUITE_P(backends, tcp_stream_test,
                         testing::Values(backend_kind::memory, backend_kind::epoll,
                                         backend_kind::io_uring),
                         backend_name);
INSTANTIATE_TEST_SUITE_P(backends, tcp_stream_on_sockets_test,
                         testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

task<void> echo(tcp_stream stream) {
  while (auto bytes = co_await stream.read())
    if (!co_await stream.write(std::move(*bytes))) co_return;
}

/// What reading gave, for a test to look at while others run.
struct read_outcome {
  bool ended = false;
  std::optional<error> failure;
  std::string text;
};

errc code(const read_outcome& outcome) {
  return outcome.failure.value_or(error{errc::system}).code();
}

task<void> read_once(tcp_stream& stream, read_outcome& outcome) {
  auto bytes = co_await stream.read();
  outcome.ended = true;
  if (bytes)
    outcome.text = bytes->text();
  else
    outcome.failure = bytes.error();
}

struct write_outcome {
  bool ended = false;
  result<void> value;
};

task<void> write_once(tcp_stream& stream, std::string text, write_outcome& outcome) {
  outcome.value = co_await stream.write(std::move(text));
  outcome.ended = true;
}

task<void> flush_once(tcp_stream& stream, write_outcome& outcome) {
  outcome.value = co_await stream.flush();
  outcome.ended = true;
}

// ---- bytes ----

TEST_P(tcp_stream_test, echoes_from_one_byte_to_ten_mebibytes) {
  run([&]() -> task<void> {
    for (const std::size_t size :
         {1UZ, 2UZ, 4031UZ, 4032UZ, 4033UZ, 65'536UZ, 1'000'003UZ, 10'485'760UZ}) {
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
      std::string moved(5'000, 'm');
      std::string copied(5'000, 'c');
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
    const std::string expected = std::string(5'000, 'm') + std::string(5'000, 'c') +
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
    EXPECT_EQ(client.queued_bytes(), 0U);
  });
}

// ---- ends ----

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
    if (GetParam() == backend_kind::epoll) EXPECT_EQ(code(reading), errc::reset);
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

// ---- writes: how much, and when they return ----

TEST_P(tcp_stream_test, suspends_a_writer_above_the_high_watermark_until_the_low_one) {
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

TEST_P(tcp_stream_test, resumes_waiting_writers_in_their_order) {
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

TEST_P(tcp_stream_test, flushes_until_the_queue_is_empty) {
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

TEST_P(tcp_stream_test, closes_only_after_all_was_sent) {
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

// ---- streams that are dropped ----

TEST_P(tcp_stream_test, delivers_what_a_dropped_stream_had_queued) {
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

TEST_P(tcp_stream_on_sockets_test, keeps_the_loop_running_until_a_dropped_stream_is_done) {
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

TEST_P(tcp_stream_test, ends_a_dropped_stream_whose_peer_never_reads) {
  // Virtual time on memory: five seconds pass at once. The kernel's backends would take them in
  // earnest.
  if (!in_memory()) return;
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

TEST_P(tcp_stream_test, ends_at_once_when_the_peer_of_a_dropped_stream_goes) {
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

TEST_P(tcp_stream_test, may_be_dropped_after_the_loop_has_run) {
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

// ---- stop requests and deadlines ----

TEST_P(tcp_stream_test, loses_no_byte_to_a_cancelled_read_whichever_comes_first) {
  run([&]() -> task<void> {
    int successes = 0;
    int cancellations = 0;
    for (unsigned order = 0; order < 12; ++order) {
      auto pair = co_await connected_pair(loop());
      scope tasks{co_await this_task::environment()};
      read_outcome reading;
      tasks.spawn(read_once(pair.server, reading));
      co_await turns(2);
      EXPECT_FALSE(reading.ended);
      EXPECT_TRUE((co_await pair.client.write("precious")).has_value());
      for (unsigned i = 0; i < order; ++i) co_await yield{loop()};
      tasks.request_stop();
      co_await tasks.join();
      if (reading.failure) {
        EXPECT_EQ(*reading.failure, errc::cancelled);
        read_outcome again;
        co_await read_once(pair.server, again);
        EXPECT_EQ(again.text, "precious") << "the stream is usable, and nothing is lost";
        ++cancellations;
      } else {
        EXPECT_EQ(reading.text, "precious");
        ++successes;
      }
    }
    if (in_memory()) {
      EXPECT_GT(successes, 0) << "a success that raced the cancel is returned";
      EXPECT_EQ(cancellations, 0) << "memory answers in the writer's own turn";
    }
  });
}

TEST_P(tcp_stream_test, answers_a_cancelled_read_once_though_bytes_follow) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    read_outcome reading;
    tasks.spawn(read_once(pair.server, reading));
    co_await turns(2);
    tasks.request_stop();
    EXPECT_FALSE(reading.ended) << "the answer comes from the loop, not from inside the request";
    EXPECT_TRUE((co_await pair.client.write("late")).has_value());
    co_await tasks.join();
    if (reading.failure) {
      EXPECT_EQ(*reading.failure, errc::cancelled);
      read_outcome again;
      co_await read_once(pair.server, again);
      EXPECT_EQ(again.text, "late");
    } else {
      EXPECT_EQ(reading.text, "late");
    }
  });
}

TEST_P(tcp_stream_test, cancels_writes_and_flushes_and_still_sends) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    write_outcome writing;
    write_outcome flushing;
    tasks.spawn(write_once(pair.client, std::string(20'000'000, 'w'), writing));
    tasks.spawn(flush_once(pair.client, flushing));
    co_await turns(10);
    EXPECT_FALSE(writing.ended);
    EXPECT_FALSE(flushing.ended);
    tasks.request_stop();
    co_await tasks.join();
    EXPECT_EQ(writing.value.error(), errc::cancelled);
    EXPECT_EQ(flushing.value.error(), errc::cancelled);
    EXPECT_EQ((co_await read_up_to(pair.server, 20'000'000)).size(), 20'000'000U)
        << "what was queued stays queued";
    EXPECT_TRUE((co_await pair.client.flush()).has_value());
  });
}

TEST_P(tcp_stream_test, returns_a_write_that_was_done_before_the_stop) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    write_outcome flushing;
    pair.client.append(std::string(20'000'000, 'w'));
    tasks.spawn(flush_once(pair.client, flushing));
    co_await turns(3);
    // Reads until the last byte has been handed over; the flush is answered, though its task may
    // not have run yet.
    std::size_t got = 0;
    while (pair.client.queued_bytes() != 0) {
      auto bytes = co_await pair.server.read();
      if (!bytes) break;
      got += bytes->size();
    }
    tasks.request_stop();
    co_await tasks.join();
    EXPECT_TRUE(flushing.value.has_value());
    EXPECT_EQ(got + (co_await read_up_to(pair.server, 20'000'000 - got)).size(), 20'000'000U);
  });
}

TEST_P(tcp_stream_test, does_not_wait_when_it_was_stopped_before) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    tasks.request_stop();
    read_outcome reading;
    write_outcome writing;
    tasks.spawn(read_once(pair.server, reading));
    tasks.spawn(write_once(pair.client, std::string(20'000'000, 'w'), writing));
    co_await tasks.join();
    EXPECT_EQ(code(reading), errc::cancelled);
    EXPECT_EQ(writing.value.error(), errc::cancelled);
    co_await read_up_to(pair.server, 20'000'000);
  });
}

TEST_P(tcp_stream_test, obeys_deadlines) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    environment soon = co_await this_task::environment();
    soon.until = deadline::at(loop().now() + std::chrono::milliseconds{5});
    read_outcome reading;
    write_outcome writing;
    write_outcome flushing;
    scope tasks{soon};
    tasks.spawn(read_once(pair.server, reading));
    tasks.spawn(write_once(pair.client, std::string(20'000'000, 'w'), writing));
    tasks.spawn(flush_once(pair.client, flushing));
    co_await tasks.join();
    // The first of the bytes may have come before the deadline.
    EXPECT_TRUE(!reading.failure || *reading.failure == errc::timed_out);
    EXPECT_EQ(writing.value.error(), errc::timed_out);
    EXPECT_EQ(flushing.value.error(), errc::timed_out);
    read_outcome late;
    co_await read_once(pair.client, late).in(soon);
    EXPECT_EQ(code(late), errc::timed_out) << "a passed deadline is heeded at once";
    co_await read_up_to(pair.server, 20'000'000 - reading.text.size());
  });
}

TEST_P(tcp_stream_test, cancels_connecting) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    for (unsigned order = 0; order < 6; ++order) {
      scope tasks{co_await this_task::environment()};
      std::optional<result<tcp_stream>> outcome;
      auto connecting = [&]() -> task<void> {
        outcome.emplace(co_await tcp_stream::connect(loop(), listener->local_endpoint()));
      };
      tasks.spawn(connecting());
      for (unsigned i = 0; i < order; ++i) co_await yield{loop()};
      tasks.request_stop();
      co_await tasks.join();
      EXPECT_TRUE(outcome->has_value() || outcome->error() == errc::cancelled);
    }
  });
}

TEST_P(tcp_stream_on_sockets_test, gives_up_connecting_to_a_full_listener_at_the_deadline) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0), {.backlog = 0});
    const raw_socket fills = raw_socket::connected_to(listener->local_endpoint());
    environment soon = co_await this_task::environment();
    soon.until = deadline::at(loop().now() + std::chrono::milliseconds{5});
    EXPECT_EQ((co_await tcp_stream::connect(loop(), listener->local_endpoint()).in(soon)).error(),
              errc::timed_out);
  });
}

TEST_P(tcp_stream_test, ends_a_read_that_waits_when_the_stream_is_closed) {
  run([&]() -> task<void> {
    for (const bool by_closing : {true, false}) {
      auto pair = co_await connected_pair(loop());
      scope tasks{co_await this_task::environment()};
      read_outcome reading;
      std::optional<tcp_stream> stream{std::move(pair.server)};
      tasks.spawn(read_once(*stream, reading));
      co_await turns(2);
      if (by_closing)
        EXPECT_TRUE((co_await stream->close()).has_value());
      else
        tcp_stream{std::move(*stream)};
      co_await tasks.join();
      EXPECT_EQ(code(reading), errc::cancelled);
      EXPECT_EQ((co_await pair.client.read()).error(), errc::closed);
    }
  });
}

// ---- many ----

TEST_P(tcp_stream_test, stops_hundreds_of_connections_at_once) {
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

TEST_P(tcp_stream_test, leaves_nothing_behind_after_thousands_of_connections) {
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

TEST_P(tcp_stream_test, loses_no_byte_when_more_connections_are_busy_than_the_kernel_has_buffers) {
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

TEST_P(tcp_stream_on_sockets_test, waits_for_buffers_that_others_hold) {
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
    // Given back in the middle of a turn, with nothing else to wake the loop.
    while (!held.empty()) {
      held.pop_back();
      co_await turns(1);
    }
    co_await readers.join();
    // The other 44 were given both messages in the one buffer they held.
    EXPECT_EQ(complete, 256U);
  });
}

TEST_P(tcp_stream_test, holds_few_buffers_for_a_connection_whose_owner_does_not_read) {
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

TEST_P(tcp_stream_on_sockets_test, serves_unix_sockets_alike) {
  const std::string path = testing::TempDir() + "weft-stream-" + std::string{to_string(GetParam())};
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

}  // namespace
}  // namespace weft::net
