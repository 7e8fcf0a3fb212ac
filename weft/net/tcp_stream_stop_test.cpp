#include <weft/net/tcp_stream.hpp>

#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/net/loopback_test.hpp>

namespace weft::net {
namespace {

using tcp_stream_stop_test = loopback;
/// With peers that are no weft streams, or what only the kernel has.
using tcp_stream_stop_on_sockets_test = loopback;

INSTANTIATE_TEST_SUITE_P(backends, tcp_stream_stop_test,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll,
                                           backend_kind::io_uring),
                         backend_name);
INSTANTIATE_TEST_SUITE_P(backends, tcp_stream_stop_on_sockets_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(tcp_stream_stop_test, loses_no_byte_to_a_cancelled_read_whichever_comes_first) {
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

TEST_P(tcp_stream_stop_test, answers_a_cancelled_read_once_though_bytes_follow) {
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

TEST_P(tcp_stream_stop_test, cancels_writes_and_flushes_and_still_sends) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    write_outcome writing;
    write_outcome flushing;
    tasks.spawn(write_once(pair.client, std::string(20'000'000, 'w'), writing));
    co_await yield{loop()};
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

TEST_P(tcp_stream_stop_test, returns_a_write_that_was_done_before_the_stop) {
  run([&]() -> task<void> {
    auto pair = co_await connected_pair(loop());
    scope tasks{co_await this_task::environment()};
    write_outcome flushing;
    constexpr std::size_t sent = 20'000'000;
    pair.client.append(std::string(sent, 'w'));
    tasks.spawn(flush_once(pair.client, flushing));
    co_await turns(3);
    // Reads until the last byte has been handed over; the flush is answered, though its task may
    // not have run yet.
    std::size_t got = 0;
    while (pair.client.queued_bytes() != 0) {
      if (got == sent) {
        co_await turns(1);  // the client has not been told yet that they have left
        continue;
      }
      auto bytes = co_await pair.server.read();
      if (!bytes) break;
      got += bytes->size();
    }
    tasks.request_stop();
    co_await tasks.join();
    EXPECT_TRUE(flushing.value.has_value());
    EXPECT_EQ(got + (co_await read_up_to(pair.server, sent - got)).size(), sent);
  });
}

TEST_P(tcp_stream_stop_test, does_not_wait_when_it_was_stopped_before) {
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

TEST_P(tcp_stream_stop_test, obeys_deadlines) {
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
    co_await yield{loop()};
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

TEST_P(tcp_stream_stop_test, cancels_connecting) {
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

TEST_P(tcp_stream_stop_on_sockets_test, gives_up_connecting_to_a_full_listener_at_the_deadline) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0), {.backlog = 0});
    const raw_socket fills = raw_socket::connected_to(listener->local_endpoint());
    environment soon = co_await this_task::environment();
    soon.until = deadline::at(loop().now() + std::chrono::milliseconds{5});
    EXPECT_EQ((co_await tcp_stream::connect(loop(), listener->local_endpoint()).in(soon)).error(),
              errc::timed_out);
  });
}

TEST_P(tcp_stream_stop_test, ends_a_read_that_waits_when_the_stream_is_closed) {
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

}  // namespace
}  // namespace weft::net
