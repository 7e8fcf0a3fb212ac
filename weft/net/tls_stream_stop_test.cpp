// Secured streams, asked to stop in any order, or too late.
#include <weft/net/tls_stream.hpp>

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/with_deadline.hpp>
#include <weft/net/tls_fixture_test.hpp>

namespace weft::net {
namespace {

using tls_stream_stop_test = tls_loopback;

INSTANTIATE_TEST_SUITE_P(backends, tls_stream_stop_test,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll,
                                           backend_kind::io_uring),
                         backend_name);

TEST_P(tls_stream_stop_test, loses_no_byte_to_a_cancelled_read_whichever_comes_first) {
  run([&]() -> task<void> {
    auto pair = co_await shake_hands();
    if (!pair.is_good()) co_return ADD_FAILURE();
    for (unsigned order = 0; order < 12; ++order) {
      scope tasks{co_await this_task::environment()};
      read_outcome reading;
      tasks.spawn(read_once(**pair.server, reading));
      co_await turns(2);
      EXPECT_FALSE(reading.ended);
      EXPECT_TRUE((co_await (*pair.client)->write("precious")).has_value());
      for (unsigned i = 0; i < order; ++i) co_await yield{loop()};
      tasks.request_stop();
      co_await tasks.join();
      if (reading.failure) {
        EXPECT_EQ(*reading.failure, errc::cancelled);
        reading = {};
        co_await read_once(**pair.server, reading);
      }
      EXPECT_EQ(reading.text, "precious") << "the stream is usable, and nothing is lost";
    }
  });
}

TEST_P(tls_stream_stop_test, obeys_deadlines) {
  run([&]() -> task<void> {
    auto pair = co_await shake_hands();
    if (!pair.is_good()) co_return ADD_FAILURE();
    environment soon = co_await this_task::environment();
    soon.until = deadline::at(loop().now() + std::chrono::milliseconds{5});
    read_outcome reading;
    write_outcome writing;
    scope tasks{soon};
    tasks.spawn(read_once(**pair.server, reading));
    tasks.spawn(write_once(**pair.server, std::string(20'000'000, 'w'), writing));
    co_await tasks.join();
    EXPECT_EQ(code(reading), errc::timed_out);
    EXPECT_EQ(writing.value.error(), errc::timed_out);
    read_outcome late;
    co_await read_once(**pair.server, late).in(soon);
    EXPECT_EQ(code(late), errc::timed_out) << "a passed deadline is heeded at once";
    EXPECT_EQ((co_await read_up_to(**pair.client, 20'000'000)).size(), 20'000'000U);
  });
}

TEST_P(tls_stream_stop_test, ends_a_read_that_waits_when_the_stream_is_dropped) {
  run([&]() -> task<void> {
    auto pair = co_await shake_hands();
    if (!pair.is_good()) co_return ADD_FAILURE();
    scope tasks{co_await this_task::environment()};
    read_outcome reading;
    tasks.spawn(read_once(**pair.server, reading));
    co_await turns(2);
    pair.server.reset();
    co_await tasks.join();
    EXPECT_EQ(code(reading), errc::cancelled);
    EXPECT_EQ(co_await read_to_end(**pair.client), "");
  });
}

TEST_P(tls_stream_stop_test, stops_shaking_hands_at_any_point) {
  run([&]() -> task<void> {
    unsigned refused = 0;
    for (unsigned order = 0; order < 40; ++order) {
      auto plain = co_await connected_pair(loop());
      secured_pair made;
      handshake_gate gate{loop(), 1};
      scope tasks{co_await this_task::environment()};
      tasks.spawn(accept_into(std::move(plain.server), gate, made.server));
      tasks.spawn(connect_into(std::move(plain.client), gate, "site.test", made.client));
      for (unsigned i = 0; i < order; ++i) co_await yield{loop()};
      tasks.request_stop();
      co_await tasks.join();
      for (const secured* each : {&made.client, &made.server})
        if (!(*each)->has_value()) {
          ++refused;
          EXPECT_TRUE((*each)->error() == errc::cancelled || (*each)->error() == errc::reset);
        }
    }
    EXPECT_GT(refused, 0U);
  });
}

TEST_P(tls_stream_stop_test, waits_for_no_client_for_ever) {
  run([&]() -> task<void> {
    for (const std::string_view said : {"", "\x16\x03\x01\x02"}) {
      auto plain = co_await connected_pair(loop());
      EXPECT_TRUE((co_await plain.client.write(said)).has_value());
      handshake_gate gate{loop()};
      const auto outcome = co_await with_timeout(
          std::chrono::milliseconds{5}, tls_accept(std::move(plain.server), *server_context, gate));
      EXPECT_EQ(outcome.error(), errc::timed_out);
    }
    auto plain = co_await connected_pair(loop());
    plain.client.end_output();
    handshake_gate gate{loop()};
    EXPECT_EQ((co_await tls_accept(std::move(plain.server), *server_context, gate)).error(),
              errc::reset);
  });
}

TEST_P(tls_stream_stop_test, lets_so_many_pass_in_a_turn) {
  run([&]() -> task<void> {
    constexpr unsigned crowd = 20;
    constexpr unsigned at_once = 3;
    handshake_gate gate{loop(), at_once};
    std::vector<std::uint64_t> passed;
    const auto pass = [&]() -> task<void> {
      if (co_await gate.pass()) passed.push_back(loop().turns());
    };
    scope tasks{co_await this_task::environment()};
    for (unsigned i = 0; i < crowd; ++i) tasks.spawn(pass());
    co_await tasks.join();
    EXPECT_EQ(passed.size(), crowd);
    for (std::size_t i = at_once; i < passed.size(); ++i)
      EXPECT_GT(passed[i], passed[i - at_once]) << "more than so many in one turn";
  });
}

}  // namespace
}  // namespace weft::net
