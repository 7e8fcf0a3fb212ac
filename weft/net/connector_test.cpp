#include <weft/net/connector.hpp>

#include <netinet/in.h>
#include <unistd.h>

#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/net/dns_server_test.hpp>
#include <weft/net/loopback_test.hpp>
#include <weft/testing/allocation_failure.hpp>

namespace weft::net {
namespace {

using std::chrono::milliseconds;

constexpr connect_options hasty{.attempt_delay = milliseconds{20},
                                .resolution_delay = milliseconds{20}};

struct connect_outcome {
  bool ended = false;
  std::optional<tcp_stream> stream;
  std::optional<connect_failure> failure;
};

task<void> connect_once(event_loop& loop, resolver& names, std::string target,
                        connect_outcome& outcome, connect_options options = hasty) {
  auto connected = co_await connect(loop, names, std::move(target), options);
  outcome.ended = true;
  if (connected)
    outcome.stream.emplace(std::move(*connected));
  else
    outcome.failure = std::move(connected.error());
}

/// An address where connecting neither succeeds nor fails: somebody listens, and the line is full.
class black_hole {
 public:
  explicit black_hole(const endpoint& where) : listener_{raw_socket::open()} {
    EXPECT_EQ(::bind(listener_.fd(), where.raw().get(), where.raw().size_bytes), 0);
    EXPECT_EQ(::listen(listener_.fd(), 0), 0);
    in_line_.emplace(raw_socket::connected_to(where));
  }

 private:
  raw_socket listener_;
  std::optional<raw_socket> in_line_;
};

endpoint at(const std::string& address, std::uint16_t port) {
  return endpoint::parse(address + ":" + std::to_string(port)).value();
}

class connector_test : public loopback {
 protected:
  template <class F>
  void run_with_server(F body) {
    run([&]() -> task<void> {
      dns_server dns{loop(), co_await this_task::environment()};
      {
        auto names = resolver::create(
            loop(), {.servers = {dns.address()}, .attempt_timeout = milliseconds{500}});
        co_await body(dns, names.value());
      }
      co_await dns.stop();
    });
  }
};

INSTANTIATE_TEST_SUITE_P(backends, connector_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(connector_test, connects_to_numbers_and_paths_without_a_lookup) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    auto numeric = co_await connect(loop(), names, listener->local_endpoint().to_string());
    EXPECT_TRUE(numeric.has_value());
    const std::string name = "unix:@weft-connector-" + std::to_string(::getpid());
    auto on_path = tcp_listener::bind(loop(), endpoint::parse(name).value());
    EXPECT_TRUE((co_await connect(loop(), names, name)).has_value());
    EXPECT_EQ(dns.questions(), 0);
  });
}

using connector_in_memory_test = loopback;
INSTANTIATE_TEST_SUITE_P(backends, connector_in_memory_test,
                         ::testing::Values(backend_kind::simulated), backend_name);

TEST_P(connector_in_memory_test, connects_to_numbers_and_knows_no_names) {
  run([&]() -> task<void> {
    auto names = resolver::create(loop());
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    const std::string where = listener->local_endpoint().to_string();
    EXPECT_TRUE((co_await connect(loop(), names.value(), where)).has_value());
    EXPECT_TRUE((co_await connect(loop(), names.value(), where, {.timeout = duration::max()})))
        << "as long as it takes";
    const auto named = co_await connect(loop(), names.value(), "www.test:80");
    EXPECT_EQ(named.error().why, errc::unsupported);
  });
}

TEST_P(connector_test, prefers_ipv6_where_both_answer) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    auto six = tcp_listener::bind(loop(), endpoint::parse("[::1]:0").value());
    if (!six) co_return;  // a machine without IPv6
    const std::uint16_t port = six->local_endpoint().port();
    auto four = tcp_listener::bind(loop(), endpoint::loopback(port));
    dns.add("both.test", {.ipv4 = {"127.0.0.1"}, .ipv6 = {"::1"}});
    auto stream = co_await connect(loop(), names, "both.test:" + std::to_string(port), hasty);
    EXPECT_EQ(stream.value().peer_endpoint()->family(), AF_INET6);
  });
}

TEST_P(connector_test, takes_the_other_family_where_one_is_refused) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    dns.add("both.test", {.ipv4 = {"127.0.0.1"}, .ipv6 = {"::1"}});
    const std::string port = std::to_string(listener->local_endpoint().port());
    auto stream = co_await connect(loop(), names, "both.test:" + port, {});
    EXPECT_EQ(stream.value().peer_endpoint()->to_string(), "127.0.0.1:" + port);
  });
}

TEST_P(connector_test, goes_on_beside_an_attempt_that_hangs) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    auto listener = tcp_listener::bind(loop(), at("127.0.0.3", 0));
    const std::uint16_t port = listener->local_endpoint().port();
    const black_hole hole{at("127.0.0.2", port)};
    dns.add("half.test", {.ipv4 = {"127.0.0.2", "127.0.0.3"}});
    const time_point before = loop().now();
    auto stream = co_await connect(loop(), names, "half.test:" + std::to_string(port), hasty);
    EXPECT_EQ(stream.value().peer_endpoint()->to_string(), at("127.0.0.3", port).to_string());
    EXPECT_GE(loop().now() - before, hasty.attempt_delay);
  });
}

TEST_P(connector_test, does_not_wait_for_a_lookup_that_hangs) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    dns.add("slow6.test", {.ipv4 = {"127.0.0.1"}, .ipv6_manner = dns_manner::is_silent});
    const time_point before = loop().now();
    const std::string port = std::to_string(listener->local_endpoint().port());
    auto stream = co_await connect(loop(), names, "slow6.test:" + port, hasty);
    EXPECT_TRUE(stream.has_value());
    EXPECT_GE(loop().now() - before, hasty.resolution_delay);
  });
}

/// What waits for the attempt is told of its end, whichever it is.
TEST_P(connector_test, an_exception_that_leaves_an_attempt_ends_it_all_at_once) {
  if (!testing::allocation_failure::is_available()) GTEST_SKIP() << "malloc is not ours here";
  run_with_server([&](dns_server&, resolver& names) -> task<void> {
    const auto warm = co_await connect(loop(), names, "127.0.0.2:1", {});
    EXPECT_EQ(warm.error().why, errc::refused);
    bool has_thrown = false;
    scope under_way{co_await this_task::environment()};
    under_way.spawn([](event_loop& on, resolver& book, bool& thrown) -> task<void> {
      try {
        std::ignore = co_await connect(on, book, "127.0.0.2:1", {.timeout = std::chrono::hours{1}});
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
    }(loop(), names, has_thrown));
    co_await yield{loop()};  // now it waits for its attempt
    {
      const testing::allocation_failure no_memory{sizeof(connect_failure::attempt)};
      for (int turns = 0; turns < 100'000 && !has_thrown; ++turns) co_await yield{loop()};
    }
    EXPECT_TRUE(has_thrown);
    under_way.request_stop();
    co_await under_way.join();
  });
}

TEST_P(connector_test, names_every_address_that_it_tried) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    dns.add("down.test", {.ipv4 = {"127.0.0.2", "127.0.0.3"}});
    const auto stream = co_await connect(loop(), names, "down.test:1", hasty);
    EXPECT_EQ(stream.error().why, errc::refused);
    EXPECT_EQ(stream.error().attempts.size(), 2U);
    const std::string text = stream.error().message();
    for (const char* part :
         {"down.test:1", "127.0.0.2:1: connection refused", "127.0.0.3:1: connection refused"})
      EXPECT_TRUE(text.contains(part)) << text;
  });
}

TEST_P(connector_test, says_what_is_wrong_with_the_name) {
  run_with_server([&](dns_server&, resolver& names) -> task<void> {
    const auto unknown = co_await connect(loop(), names, "nobody.test:80", hasty);
    EXPECT_EQ(unknown.error().why, errc::not_found);
    EXPECT_EQ(unknown.error().message(), "cannot connect to nobody.test:80: not found");
    for (const char* target : {"nobody.test", "nobody.test:http", "::1:80", ""}) {
      const auto refused = co_await connect(loop(), names, target, hasty);
      EXPECT_EQ(refused.error().why, errc::invalid_argument) << target;
    }
  });
}

TEST_P(connector_test, says_that_a_zone_is_no_interface) {
  run([&]() -> task<void> {
    auto names = resolver::create(loop());
    const auto stream = co_await connect(loop(), names.value(), "[fe80::1%weft-none9]:80");
    EXPECT_FALSE(stream.has_value());
    if (stream) co_return;
    EXPECT_EQ(stream.error().why, errc::not_found);
    EXPECT_TRUE(stream.error().message().contains(
        "there is no network interface \"weft-none9\"; `ip link` lists those there are"))
        << stream.error().message();
    const auto found = co_await names->resolve("fe80::1%weft-none9", 80);
    EXPECT_EQ(found.error(), errc::not_found);
  });
}

TEST_P(connector_test, gives_up_at_its_timeout_and_says_where_it_stood) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    const auto free_port = udp_socket::bind(loop(), endpoint::loopback(0));
    const std::uint16_t port = free_port->local_endpoint()->port();
    const black_hole hole{at("127.0.0.2", port)};
    dns.add("hole.test", {.ipv4 = {"127.0.0.2"}});
    connect_options options = hasty;
    options.timeout = milliseconds{60};
    const auto stream =
        co_await connect(loop(), names, "hole.test:" + std::to_string(port), options);
    EXPECT_EQ(stream.error().why, errc::timed_out);
    EXPECT_EQ(stream.error().attempts.size(), 1U);
    EXPECT_TRUE(stream.error().message().contains("127.0.0.2:")) << stream.error().message();
    dns.add("silent.test", {.manner = dns_manner::is_silent});
    const auto unnamed = co_await connect(loop(), names, "silent.test:80", options);
    EXPECT_EQ(unnamed.error().why, errc::timed_out);
  });
}

TEST_P(connector_test, is_cancelled_at_any_step_or_connected) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    auto listener = tcp_listener::bind(loop(), endpoint::loopback(0));
    const std::string target = "both.test:" + std::to_string(listener->local_endpoint().port());
    dns.add("both.test", {.ipv4 = {"127.0.0.1"}, .ipv6 = {"::1"}});
    unsigned successes = 0;
    unsigned cancellations = 0;
    constexpr unsigned orders = 24;
    for (unsigned order = 0; order < orders; ++order) {
      scope tasks{co_await this_task::environment()};
      connect_outcome outcome;
      tasks.spawn(connect_once(loop(), names, target, outcome));
      co_await turns(order);
      while (order + 1 == orders && !outcome.ended) co_await turns(1);
      tasks.request_stop();
      co_await tasks.join();
      EXPECT_TRUE(outcome.ended);
      if (outcome.failure) {
        EXPECT_EQ(outcome.failure->why, errc::cancelled);
        ++cancellations;
      } else {
        EXPECT_TRUE(outcome.stream->is_open());
        ++successes;
      }
    }
    EXPECT_GT(successes, 0U);
    EXPECT_GT(cancellations, 0U);
  });
}

TEST_P(connector_test, cancels_an_attempt_that_hangs) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    const auto free_port = udp_socket::bind(loop(), endpoint::loopback(0));
    const std::uint16_t port = free_port->local_endpoint()->port();
    const black_hole hole{at("127.0.0.2", port)};
    dns.add("hole.test", {.ipv4 = {"127.0.0.2"}});
    scope tasks{co_await this_task::environment()};
    connect_outcome outcome;
    tasks.spawn(connect_once(loop(), names, "hole.test:" + std::to_string(port), outcome));
    co_await turns(16);
    EXPECT_FALSE(outcome.ended);
    tasks.request_stop();
    co_await tasks.join();
    EXPECT_EQ(outcome.failure.value().why, errc::cancelled);
  });
}

TEST_P(connector_test, gives_one_of_two_that_succeed_and_closes_the_other) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    auto listener = tcp_listener::bind(loop(), at("0.0.0.0", 0));
    const std::uint16_t port = listener->local_endpoint().port();
    dns.add("twice.test", {.ipv4 = {"127.0.0.2", "127.0.0.3"}});
    connect_options options = hasty;
    options.attempt_delay = duration::zero();
    auto stream = co_await connect(loop(), names, "twice.test:" + std::to_string(port), options);
    EXPECT_TRUE((co_await stream.value().write("winner")).has_value());
    EXPECT_TRUE((co_await stream->shutdown()).has_value());
    std::string all;
    while (auto accepted = co_await listener->accept_waiting())
      all += co_await read_to_end(*accepted);
    EXPECT_EQ(all, "winner");
  });
}

}  // namespace
}  // namespace weft::net
