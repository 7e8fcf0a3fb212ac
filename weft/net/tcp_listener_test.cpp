#include <weft/net/tcp_listener.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/net/address_claim.hpp>
#include <weft/net/loopback_test.hpp>
#include <weft/testing/allocation_failure.hpp>

namespace weft::net {
namespace {

using tcp_listener_test = loopback;
/// What only the kernel's sockets have.
using tcp_listener_on_sockets_test = loopback;

INSTANTIATE_TEST_SUITE_P(backends, tcp_listener_test,
                         ::testing::Values(backend_kind::simulated, backend_kind::epoll,
                                           backend_kind::io_uring),
                         backend_name);
INSTANTIATE_TEST_SUITE_P(backends, tcp_listener_on_sockets_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

struct accept_outcome {
  bool ended = false;
  std::optional<error> failure;
  std::optional<tcp_stream> stream;
};

task<void> accept_once(tcp_listener& listener, accept_outcome& outcome) {
  auto accepted = co_await listener.accept();
  outcome.ended = true;
  if (accepted)
    outcome.stream.emplace(std::move(*accepted));
  else
    outcome.failure = accepted.error();
}

TEST_P(tcp_listener_test, gives_each_connection_once) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    EXPECT_NE(listener->local_endpoint().port(), 0);
    std::vector<tcp_stream> clients;
    for (int i = 0; i < 100; ++i) {
      auto client = co_await tcp_stream::connect(loop(), listener->local_endpoint());
      EXPECT_TRUE(
          (co_await client->write(std::string(static_cast<std::size_t>(i + 1), 'n'))).has_value());
      EXPECT_TRUE((co_await client->shutdown()).has_value());
      clients.push_back(std::move(*client));
    }
    std::size_t total = 0;
    for (int i = 0; i < 100; ++i) {
      auto accepted = co_await listener->accept();
      total += (co_await read_to_end(*accepted)).size();
    }
    EXPECT_EQ(total, 5'050U);
  });
}

TEST_P(tcp_listener_test, accepts_while_it_waits) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    scope tasks{co_await this_task::environment()};
    accept_outcome accepting;
    tasks.spawn(accept_once(*listener, accepting));
    co_await turns(3);
    EXPECT_FALSE(accepting.ended);
    auto client = co_await tcp_stream::connect(loop(), listener->local_endpoint());
    EXPECT_TRUE(client.has_value());
    co_await tasks.join();
    EXPECT_TRUE(accepting.stream.has_value());
  });
}

TEST_P(tcp_listener_test, refuses_an_address_that_is_taken) {
  run([&]() -> task<void> {
    auto first = tcp_listener::bind(loop(), endpoint::loopback(0));
    const auto second = tcp_listener::bind(loop(), first->local_endpoint());
    EXPECT_FALSE(second.has_value());
    if (!second) {
      EXPECT_EQ(second.error(), errc::address_in_use);
    }
    co_return;
  });
}

TEST_P(tcp_listener_test, frees_its_address_when_closed) {
  run([&]() -> task<void> {
    auto first = tcp_listener::bind(loop(), endpoint::loopback(0));
    const endpoint where = first->local_endpoint();
    first->close();
    co_await turns(3);
    EXPECT_TRUE(tcp_listener::bind(loop(), where).has_value());
  });
}

TEST_P(tcp_listener_test, loses_no_connection_to_a_cancelled_accept_whichever_comes_first) {
  run([&]() -> task<void> {
    for (unsigned order = 0; order < 12; ++order) {
      auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
      scope tasks{co_await this_task::environment()};
      accept_outcome accepting;
      tasks.spawn(accept_once(*listener, accepting));
      co_await turns(2);
      EXPECT_FALSE(accepting.ended);
      const bool stop_first = order % 2 == 0;
      if (stop_first) tasks.request_stop();
      auto client = co_await tcp_stream::connect(loop(), listener->local_endpoint());
      for (unsigned i = 0; i < order / 2; ++i) co_await yield{loop()};
      tasks.request_stop();
      co_await tasks.join();
      if (in_memory()) {
        EXPECT_EQ(accepting.stream.has_value(), !stop_first);
      }
      if (!accepting.stream) {
        EXPECT_EQ(accepting.failure.value_or(error{errc::system}), errc::cancelled);
        accept_outcome again;
        co_await accept_once(*listener, again);
        EXPECT_TRUE(again.stream.has_value()) << "the connection waits for the next accept";
      }
    }
  });
}

TEST_P(tcp_listener_test, stops_waiting_at_its_deadline) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    environment soon = co_await this_task::environment();
    soon.until = deadline::at(loop().now() + std::chrono::milliseconds{5});
    EXPECT_EQ((co_await listener->accept().in(soon)).error(), errc::timed_out);
    auto client = co_await tcp_stream::connect(loop(), listener->local_endpoint());
    EXPECT_TRUE((co_await listener->accept()).has_value()) << "and may wait again";
  });
}

TEST_P(tcp_listener_test, empties_its_line_and_lets_nobody_else_in) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    const endpoint where = listener->local_endpoint();
    {
      // As a server does: it waits, and is told to stop. io_uring goes on accepting.
      scope tasks{co_await this_task::environment()};
      accept_outcome accepting;
      tasks.spawn(accept_once(*listener, accepting));
      co_await turns(2);
      tasks.request_stop();
      co_await tasks.join();
    }
    std::vector<tcp_stream> clients;
    for (int i = 0; i < 5; ++i)
      clients.push_back((co_await tcp_stream::connect(loop(), where)).value());
    std::vector<raw_socket> quick;  // whom no turn of the loop can have accepted
    if (!in_memory())
      for (int i = 0; i < 300; ++i) quick.push_back(raw_socket::connected_to(where));
    listener->refuse_newcomers();
    if (in_memory())
      EXPECT_EQ((co_await tcp_stream::connect(loop(), where)).error(), errc::refused);
    std::vector<tcp_stream> accepted;
    for (;;) {
      auto next = co_await listener->accept_waiting();
      if (!next) {
        EXPECT_EQ(next.error(), errc::closed);
        break;
      }
      accepted.push_back(std::move(*next));
    }
    EXPECT_EQ(accepted.size(), clients.size() + quick.size());
    EXPECT_EQ((co_await listener->accept_waiting()).error(), errc::closed) << "again";
    listener->close();
    co_await turns(3);
    for (tcp_stream& each : accepted) EXPECT_TRUE((co_await each.write("in")).has_value());
    for (tcp_stream& each : clients) EXPECT_EQ(co_await read_up_to(each, 2), "in");
    EXPECT_EQ((co_await tcp_stream::connect(loop(), where)).error(), errc::refused);
  });
}

TEST_P(tcp_listener_on_sockets_test, keeps_newcomers_waiting_from_its_last_call_to_its_end) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    listener->refuse_newcomers();
    environment soon = co_await this_task::environment();
    soon.until = deadline::at(loop().now() + std::chrono::milliseconds{50});
    auto late = co_await tcp_stream::connect(loop(), listener->local_endpoint()).in(soon);
    EXPECT_EQ(late.error(), errc::timed_out) << "neither in, to be reset, nor refused for good";
    EXPECT_EQ((co_await listener->accept_waiting()).error(), errc::closed);
  });
}

TEST_P(tcp_listener_on_sockets_test, knows_no_deferred_connections_of_a_unix_socket) {
  run([&]() -> task<void> {
    const auto address = endpoint::parse("unix:@weft-deferred-" + std::to_string(::getpid()));
    auto listener = tcp_listener::bind(loop(), *address, {.deferred = true});
    if (!listener) co_return ADD_FAILURE();
    auto client = co_await tcp_stream::connect(loop(), listener->local_endpoint());
    if (!client) co_return ADD_FAILURE();
    EXPECT_TRUE((co_await listener->accept()).has_value());
  });
}

TEST_P(tcp_listener_test, ends_connections_that_nobody_accepted) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    scope tasks{co_await this_task::environment()};
    accept_outcome accepting;
    tasks.spawn(accept_once(*listener, accepting));
    std::vector<tcp_stream> clients;
    for (int i = 0; i < 5; ++i)
      clients.push_back((co_await tcp_stream::connect(loop(), listener->local_endpoint())).value());
    co_await tasks.join();
    co_await turns(2);
    listener->close();
    for (tcp_stream& client : std::span{clients}.subspan(1)) {
      const auto end = co_await client.read();
      EXPECT_TRUE(!end && (end.error() == errc::closed || end.error() == errc::reset));
    }
    EXPECT_TRUE((co_await clients.front().write("accepted")).has_value());
    EXPECT_EQ(co_await read_up_to(*accepting.stream, 8), "accepted") << "and this one lives on";
  });
}

TEST_P(tcp_listener_on_sockets_test, shares_a_claimed_address_among_listeners) {
  run([&]() -> task<void> {
    const auto claim = address_claim::take(endpoint::loopback(0));
    auto first = tcp_listener::bind(loop(), claim->address(), {.shared = true});
    auto second = tcp_listener::bind(loop(), claim->address(), {.shared = true});
    EXPECT_TRUE(first.has_value() && second.has_value());
    EXPECT_EQ(address_claim::take(claim->address()).error(), errc::address_in_use);
    scope tasks{co_await this_task::environment()};
    std::size_t accepted = 0;
    constexpr std::size_t all = 64;
    auto serve = [&](tcp_listener& listener) -> task<void> {
      while (auto stream = co_await listener.accept())
        if (++accepted == all) tasks.request_stop();
    };
    tasks.spawn(serve(*first));
    tasks.spawn(serve(*second));
    std::vector<raw_socket> clients;
    for (std::size_t i = 0; i < all; ++i)
      clients.push_back(raw_socket::connected_to(claim->address()));
    co_await tasks.join();
    EXPECT_EQ(accepted, all);
  });
}

TEST_P(tcp_listener_on_sockets_test, sends_small_segments_at_once) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    auto client = co_await tcp_stream::connect(loop(), listener->local_endpoint());
    accept_outcome accepting;
    const std::size_t lowest_free = [] {
      const int fd = ::dup(0);
      ::close(fd);
      return static_cast<std::size_t>(fd);
    }();
    co_await accept_once(*listener, accepting);
    // Which descriptor the stream has is its own business: look at every TCP socket there is.
    std::size_t connected = 0;
    for (int fd = 0; fd < static_cast<int>(lowest_free) + 16; ++fd) {
      sockaddr_storage peer{};
      socklen_t peer_bytes = sizeof peer;
      if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_bytes) != 0) continue;
      int no_delay = 0;
      socklen_t size = sizeof no_delay;
      if (::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size) != 0) continue;
      EXPECT_NE(no_delay, 0);
      ++connected;
    }
    EXPECT_EQ(connected, 2U);
  });
}

/// Counts warnings while it lives.
class warning_counter {
 public:
  warning_counter() {
    // UndefinedBehaviorSanitizer looks at an object the first time by means of a pipe, for which
    // there will be no descriptors: so the message that will be logged is made once before.
    EXPECT_FALSE(error::from_errno(EMFILE).message().empty());
    log::set_sink(&count, this);
  }
  warning_counter(const warning_counter&) = delete;
  warning_counter& operator=(const warning_counter&) = delete;
  ~warning_counter() { log::set_sink(nullptr, nullptr); }
  int warnings = 0;

 private:
  static void count(log::level at, std::string_view, void* self) {
    if (at == log::level::warning) ++static_cast<warning_counter*>(self)->warnings;
  }
};

TEST_P(tcp_listener_on_sockets_test, pauses_without_descriptors_and_recovers) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    const endpoint where = listener->local_endpoint();
    std::vector<raw_socket> clients;
    for (int i = 0; i < 8; ++i) clients.push_back(raw_socket::open());
    co_await turns(2);

    warning_counter log;
    scope tasks{co_await this_task::environment()};
    std::vector<tcp_stream> accepted;
    std::size_t gone = 0;
    auto serve = [&]() -> task<void> {
      while (gone + accepted.size() < clients.size()) {
        auto stream = co_await listener->accept();
        EXPECT_TRUE(stream.has_value());
        if (!stream) co_return;
        accepted.push_back(std::move(*stream));
      }
    };
    {
      const int lowest_free = ::dup(0);
      ::close(lowest_free);
      const descriptor_limit tight{static_cast<rlim_t>(lowest_free) + 2};
      for (const raw_socket& client : clients) EXPECT_TRUE(client.connect(where));
      tasks.spawn(serve());
      const std::uint64_t turns_before = loop().turns();
      // Three pauses and a half: real time, but what is checked is how often the loop turned, which
      // a slow machine only makes fewer.
      EXPECT_TRUE((co_await sleep_for(loop(), std::chrono::milliseconds{350})).has_value());
      EXPECT_LT(loop().turns() - turns_before, 60U) << "the loop spins";
      EXPECT_LE(accepted.size(), 2U);
      EXPECT_EQ(log.warnings, 1);
      const std::size_t inside = accepted.size();
      EXPECT_GT(inside, 0U);
      accepted.pop_back();
      ++gone;
      while (accepted.size() < inside)
        co_await turns(1);  // another one gets in, and it is full again
      EXPECT_TRUE((co_await sleep_for(loop(), std::chrono::milliseconds{150})).has_value());
    }
    co_await tasks.join();
    EXPECT_EQ(gone + accepted.size(), clients.size());
    EXPECT_EQ(log.warnings, 1) << "said once, not each time that somebody leaves and another comes";
  });
}

/// That one is closed, and the listener pauses and goes on.
TEST_P(tcp_listener_on_sockets_test, goes_on_when_there_was_no_memory_for_a_connection) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "malloc is not ours here";
  run([&]() -> task<void> {
    constexpr std::size_t phases = 6;
    constexpr std::size_t each_phase = 70;  // more than a chunk of descriptors has
    constexpr std::size_t many = phases * each_phase;
    const warning_counter log;
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    const endpoint where = listener->local_endpoint();
    scope tasks{co_await this_task::environment()};
    std::vector<tcp_stream> accepted;
    accepted.reserve(many + 1);
    tasks.spawn([](tcp_listener& from, std::vector<tcp_stream>& into) -> task<void> {
      for (;;) {
        try {
          auto stream = co_await from.accept();
          if (!stream) co_return;
          into.push_back(std::move(*stream));
          continue;
        } catch (const std::bad_alloc&) {}  // of the log, or of a coroutine
        co_await yield{event_loop::current()};
      }
    }(*listener, accepted));
    co_await turns(2);
    std::vector<raw_socket> clients;
    clients.reserve(many + 1);
    const auto connect_one = [&] {
      clients.push_back(raw_socket::open());
      EXPECT_TRUE(clients.back().connect(where));
    };
    // Of each phase another allocation fails: at most one of its connections is closed for that.
    for (std::size_t nth = 1; nth <= phases; ++nth) {
      const std::size_t before = accepted.size();
      const testing::allocation_failures none{nth, testing::failing::once};
      for (std::size_t i = 0; i < each_phase; ++i) connect_one();
      for (int i = 0; i < 20'000 && accepted.size() < before + each_phase - 1; ++i)
        EXPECT_TRUE((co_await sleep_for(loop(), std::chrono::milliseconds{1})).has_value());
    }
    EXPECT_GE(accepted.size(), many - phases);
    tasks.request_stop();
    co_await tasks.join();
  });
}

TEST_P(tcp_listener_on_sockets_test, obeys_a_stop_while_it_pauses) {
  run([&]() -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    const raw_socket client = raw_socket::open();
    const int lowest_free = ::dup(0);
    ::close(lowest_free);
    warning_counter log;
    scope tasks{co_await this_task::environment()};
    accept_outcome accepting;
    {
      const descriptor_limit none{static_cast<rlim_t>(lowest_free)};
      EXPECT_TRUE(client.connect(listener->local_endpoint()));
      tasks.spawn(accept_once(*listener, accepting));
      while (log.warnings == 0) co_await turns(1);
    }
    tasks.request_stop();
    co_await tasks.join();
    EXPECT_EQ(accepting.failure.value_or(error{errc::system}), errc::cancelled);
  });
}

}  // namespace
}  // namespace weft::net
