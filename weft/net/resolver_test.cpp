#include <weft/net/resolver.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/scope.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/net/dns_server_test.hpp>
#include <weft/net/loopback_test.hpp>

namespace weft::net {
namespace {

using std::chrono::milliseconds;

struct lookup_outcome {
  bool ended = false;
  std::optional<error> failure;
  std::vector<std::string> addresses;
};

task<void> look_up(resolver& names, std::string name, lookup_outcome& outcome,
                   int family = AF_UNSPEC) {
  const auto found = co_await names.resolve(std::move(name), 80, family);
  outcome.ended = true;
  if (!found) {
    outcome.failure = found.error();
    co_return;
  }
  for (const endpoint& address : *found) outcome.addresses.push_back(address.to_string());
}

task<lookup_outcome> looked_up(resolver& names, std::string name, int family = AF_UNSPEC) {
  lookup_outcome outcome;
  co_await look_up(names, std::move(name), outcome, family);
  co_return outcome;
}

class resolver_test : public loopback {
 protected:
  /// Runs `body` beside a DNS server of its own.
  template <class F>
  void run_with_server(F body) {
    run([&]() -> task<void> {
      dns_server dns{loop(), co_await this_task::environment()};
      {
        auto names = resolver::create(
            loop(), {.servers = {dns.address()}, .attempt_timeout = milliseconds{40}});
        co_await body(dns, names.value());
      }
      co_await dns.stop();
    });
  }
};

INSTANTIATE_TEST_SUITE_P(backends, resolver_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(resolver_test, gives_all_addresses_of_a_name_with_the_port) {
  run_with_server([](dns_server& dns, resolver& names) -> task<void> {
    dns.add("www.test", {.ipv4 = {"127.0.0.7", "127.0.0.8"}, .ipv6 = {"::1"}});
    auto both = co_await looked_up(names, "www.test");
    std::ranges::sort(both.addresses);
    EXPECT_EQ(both.addresses,
              (std::vector<std::string>{"127.0.0.7:80", "127.0.0.8:80", "[::1]:80"}));
    const auto four = co_await looked_up(names, "www.test", AF_INET);
    EXPECT_EQ(four.addresses.size(), 2U);
    const auto six = co_await looked_up(names, "www.test", AF_INET6);
    EXPECT_EQ(six.addresses, std::vector<std::string>{"[::1]:80"});
  });
}

TEST_P(resolver_test, says_that_a_name_is_not_known_or_has_no_such_address) {
  run_with_server([](dns_server& dns, resolver& names) -> task<void> {
    EXPECT_EQ((co_await looked_up(names, "nobody.test")).failure.value(), errc::not_found);
    dns.add("four.test", {.ipv4 = {"127.0.0.7"}});
    EXPECT_EQ((co_await looked_up(names, "four.test", AF_INET6)).failure.value(), errc::not_found);
    EXPECT_EQ((co_await looked_up(names, "four.test")).addresses.size(), 1U);
    EXPECT_EQ((co_await looked_up(names, "")).failure.value(), errc::invalid_argument);
    EXPECT_EQ((co_await looked_up(names, std::string{"a\0b", 3})).failure.value(),
              errc::invalid_argument);
    EXPECT_FALSE((co_await looked_up(names, std::string(300, 'l'))).addresses.size());
  });
}

TEST_P(resolver_test, asks_nobody_for_numbers_and_for_what_the_machine_knows) {
  run_with_server([](dns_server& dns, resolver& names) -> task<void> {
    EXPECT_EQ((co_await looked_up(names, "192.0.2.1")).addresses,
              std::vector<std::string>{"192.0.2.1:80"});
    EXPECT_EQ((co_await looked_up(names, "192.0.2.1", AF_INET6)).failure.value(), errc::not_found);
    EXPECT_EQ((co_await looked_up(names, "2001:db8::7")).addresses,
              std::vector<std::string>{"[2001:db8::7]:80"});
    const auto local = co_await looked_up(names, "localhost", AF_INET);
    EXPECT_EQ(local.addresses, std::vector<std::string>{"127.0.0.1:80"});
    EXPECT_EQ(dns.questions(), 0);
  });
}

TEST_P(resolver_test, asks_again_when_no_answer_comes) {
  run_with_server([](dns_server& dns, resolver& names) -> task<void> {
    dns.add("lazy.test", {.ipv4 = {"127.0.0.7"}, .ignored = 2});
    EXPECT_EQ((co_await looked_up(names, "lazy.test", AF_INET)).addresses.size(), 1U);
    EXPECT_EQ(dns.questions(), 3);
  });
}

TEST_P(resolver_test, gives_up_after_as_many_attempts_as_asked_for) {
  run_with_server([](dns_server& dns, resolver& names) -> task<void> {
    dns.add("silent.test", {.manner = dns_manner::is_silent});
    EXPECT_EQ((co_await looked_up(names, "silent.test", AF_INET)).failure.value(), errc::timed_out);
    EXPECT_EQ(dns.questions(), 3);
  });
}

TEST_P(resolver_test, passes_over_datagrams_that_are_no_answer) {
  run_with_server([](dns_server& dns, resolver& names) -> task<void> {
    dns.add("noisy.test", {.ipv4 = {"127.0.0.7"}, .manner = dns_manner::sends_garbage_first});
    const auto answer = co_await looked_up(names, "noisy.test", AF_INET);
    EXPECT_TRUE(answer.addresses == std::vector<std::string>{"127.0.0.7:80"} || answer.failure)
        << "later releases of c-ares take garbage for a broken answer";
  });
}

TEST_P(resolver_test, fails_on_an_answer_that_is_none) {
  run_with_server([](dns_server& dns, resolver& names) -> task<void> {
    dns.add("broken.test", {.manner = dns_manner::is_malformed});
    const error broken = (co_await looked_up(names, "broken.test", AF_INET)).failure.value();
    EXPECT_TRUE(broken == errc::protocol_error || broken == errc::timed_out)
        << broken.message() << "; later releases of c-ares ask again, in vain";
    dns.add("closed.test", {.manner = dns_manner::refuses});
    EXPECT_EQ((co_await looked_up(names, "closed.test", AF_INET)).failure.value(),
              errc::unavailable);
  });
}

TEST_P(resolver_test, takes_a_long_answer_over_tcp) {
  run_with_server([](dns_server& dns, resolver& names) -> task<void> {
    dns_name long_one{.manner = dns_manner::is_truncated};
    for (int i = 1; i <= 60; ++i) long_one.ipv4.push_back("127.0.1." + std::to_string(i));
    dns.add("long.test", long_one);
    EXPECT_EQ((co_await looked_up(names, "long.test", AF_INET)).addresses.size(), 60U);
    EXPECT_EQ(dns.questions_over_tcp(), 1);
  });
}

TEST_P(resolver_test, ends_one_wait_and_no_other) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    dns.add("slow.test", {.ipv4 = {"127.0.0.7"}, .ignored = 1});
    dns.add("silent.test", {.manner = dns_manner::is_silent});
    scope stays{co_await this_task::environment()};
    scope leaves{co_await this_task::environment()};
    lookup_outcome patient;
    lookup_outcome left;
    stays.spawn(look_up(names, "slow.test", patient, AF_INET));
    leaves.spawn(look_up(names, "silent.test", left, AF_INET));
    co_await turns(4);
    leaves.request_stop();
    EXPECT_FALSE(left.ended) << "the answer comes from the loop, not from inside the request";
    co_await leaves.join();
    EXPECT_EQ(left.failure.value(), errc::cancelled);
    EXPECT_FALSE(patient.ended);
    co_await stays.join();
    EXPECT_EQ(patient.addresses, std::vector<std::string>{"127.0.0.7:80"});
    EXPECT_EQ((co_await looked_up(names, "slow.test", AF_INET)).addresses.size(), 1U);
  });
}

TEST_P(resolver_test, returns_an_answer_that_came_before_the_stop) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    dns.add("www.test", {.ipv4 = {"127.0.0.7"}});
    unsigned successes = 0;
    unsigned cancellations = 0;
    constexpr unsigned orders = 12;
    for (unsigned order = 0; order < orders; ++order) {
      scope tasks{co_await this_task::environment()};
      lookup_outcome racing;
      tasks.spawn(look_up(names, "www.test", racing, AF_INET));
      co_await turns(order);
      while (order + 1 == orders && !racing.ended) co_await turns(1);
      tasks.request_stop();
      co_await tasks.join();
      EXPECT_TRUE(racing.ended);
      if (racing.failure) {
        EXPECT_EQ(*racing.failure, errc::cancelled);
        ++cancellations;
      } else {
        EXPECT_EQ(racing.addresses.size(), 1U);
        ++successes;
      }
    }
    EXPECT_GT(successes, 0U);
    EXPECT_GT(cancellations, 0U);
    // In the very turn in which it was answered: by the machine itself.
    scope tasks{co_await this_task::environment()};
    lookup_outcome local;
    tasks.spawn(look_up(names, "localhost", local, AF_INET));
    co_await yield{loop()};
    tasks.request_stop();
    co_await tasks.join();
    EXPECT_EQ(local.addresses.size(), 1U);
  });
}

TEST_P(resolver_test, heeds_the_deadline_and_a_stop_before_the_start) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    dns.add("silent.test", {.manner = dns_manner::is_silent});
    environment hurried = co_await this_task::environment();
    hurried.until = deadline::at(loop().now() + milliseconds{5});
    lookup_outcome late;
    co_await look_up(names, "silent.test", late, AF_INET).in(hurried);
    EXPECT_EQ(late.failure.value(), errc::timed_out);
    stop_source stopped;
    stopped.request_stop();
    environment ended = co_await this_task::environment();
    ended.stop = stopped.token();
    lookup_outcome never;
    const int before = dns.questions();
    co_await look_up(names, "www.test", never).in(ended);
    EXPECT_EQ(never.failure.value(), errc::cancelled);
    co_await turns(4);
    EXPECT_EQ(dns.questions(), before);
  });
}

TEST_P(resolver_test, ends_lookups_when_it_is_dropped) {
  run([&]() -> task<void> {
    dns_server dns{loop(), co_await this_task::environment()};
    dns.add("silent.test", {.manner = dns_manner::is_silent});
    scope tasks{co_await this_task::environment()};
    std::vector<lookup_outcome> outcomes(3);
    {
      auto names = resolver::create(loop(), {.servers = {dns.address()}});
      for (lookup_outcome& outcome : outcomes)
        tasks.spawn(look_up(names.value(), "silent.test", outcome));
      co_await turns(4);
    }
    co_await tasks.join();
    for (const lookup_outcome& outcome : outcomes)
      EXPECT_EQ(outcome.failure.value(), errc::cancelled);
    co_await dns.stop();
  });
}

TEST_P(resolver_test, fails_at_once_where_no_server_listens) {
  run([&]() -> task<void> {
    auto names = resolver::create(loop(), {.servers = {"127.0.0.1:1"}});
    EXPECT_EQ((co_await looked_up(names.value(), "www.test", AF_INET)).failure.value(),
              errc::unavailable);
  });
}

TEST_P(resolver_test, refuses_a_server_that_is_no_address) {
  EXPECT_FALSE(resolver::create(loop(), {.servers = {"not an address"}}).has_value());
}

TEST_P(resolver_test, serves_many_lookups_at_once) {
  run_with_server([&](dns_server& dns, resolver& names) -> task<void> {
    std::vector<lookup_outcome> outcomes(100);
    scope tasks{co_await this_task::environment()};
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const std::string name = "n" + std::to_string(i) + ".test";
      dns.add(name, {.ipv4 = {"127.0.2." + std::to_string(i)}});
      tasks.spawn(look_up(names, name, outcomes[i], AF_INET));
    }
    co_await tasks.join();
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      EXPECT_EQ(outcomes[i].addresses,
                std::vector<std::string>{"127.0.2." + std::to_string(i) + ":80"});
  });
}

/// A file of servers, and one server on `port` that it may name: 127.0.0.1.
class changed_servers_test : public loopback {
 protected:
  void SetUp() override {
    loopback::SetUp();
    write("nameserver 127.0.0.3\n");
  }
  void TearDown() override { ::unlink(file_.c_str()); }
  /// By rename(), as programs that manage networks do.
  void write(std::string_view text) const {
    const std::string fresh = file_ + ".new";
    std::ofstream{fresh} << text;
    EXPECT_EQ(std::rename(fresh.c_str(), file_.c_str()), 0);
  }
  [[nodiscard]] resolver with(const dns_server& dns) {
    const std::string address = dns.address();
    const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    return std::move(
        resolver::create(loop(),
                         {.file = file_, .port = port, .attempt_timeout = std::chrono::seconds{20}})
            .value());
  }

  std::string file_ = ::testing::TempDir() + "weft-resolv-" + std::to_string(::getpid());
};

INSTANTIATE_TEST_SUITE_P(backends, changed_servers_test,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         backend_name);

TEST_P(changed_servers_test, are_asked_by_the_next_lookup) {
  run([&]() -> task<void> {
    dns_server dns{loop(), co_await this_task::environment()};
    dns.add("www.test", {.ipv4 = {"127.0.0.7"}});
    {
      resolver names = with(dns);
      EXPECT_TRUE((co_await looked_up(names, "www.test", AF_INET)).failure.has_value());
      write("nameserver 127.0.0.1\n");
      names.reload();
      const auto found = co_await looked_up(names, "www.test", AF_INET);
      EXPECT_EQ(found.addresses, std::vector<std::string>{"127.0.0.7:80"});
      // A file that is missing for a moment is no change.
      ::unlink(file_.c_str());
      names.reload();
      EXPECT_FALSE((co_await looked_up(names, "www.test", AF_INET)).failure.has_value());
    }
    co_await dns.stop();
  });
}

TEST_P(changed_servers_test, are_asked_without_a_reload_a_moment_later) {
  run([&]() -> task<void> {
    dns_server dns{loop(), co_await this_task::environment()};
    dns.add("www.test", {.ipv4 = {"127.0.0.7"}});
    {
      resolver names = with(dns);
      EXPECT_TRUE((co_await looked_up(names, "www.test", AF_INET)).failure.has_value());
      write("nameserver 127.0.0.1\n");
      std::ignore = co_await sleep_for(loop(), std::chrono::milliseconds{1100});
      EXPECT_FALSE((co_await looked_up(names, "www.test", AF_INET)).failure.has_value());
    }
    co_await dns.stop();
  });
}

TEST_P(changed_servers_test, are_asked_by_lookups_that_wait_for_those_of_before) {
  run([&]() -> task<void> {
    dns_server dns{loop(), co_await this_task::environment()};
    dns.add("www.test", {.ipv4 = {"127.0.0.7"}});
    const std::string port = dns.address().substr(dns.address().rfind(':'));
    // Takes questions and says nothing.
    const auto silent = udp_socket::bind(loop(), *endpoint::parse("127.0.0.3" + port));
    EXPECT_TRUE(silent.has_value());
    {
      resolver names = with(dns);
      scope tasks{co_await this_task::environment()};
      lookup_outcome early;
      tasks.spawn(look_up(names, "www.test", early, AF_INET));
      std::ignore = co_await sleep_for(loop(), milliseconds{20});
      EXPECT_FALSE(early.ended);
      write("nameserver 127.0.0.1\n");
      names.reload();
      EXPECT_FALSE((co_await looked_up(names, "www.test", AF_INET)).failure.has_value());
      co_await tasks.join();  // long before its 20 s are over
      EXPECT_EQ(early.addresses, std::vector<std::string>{"127.0.0.7:80"});
    }
    co_await dns.stop();
  });
}

}  // namespace
}  // namespace weft::net
