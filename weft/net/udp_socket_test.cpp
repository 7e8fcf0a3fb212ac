#include <weft/net/udp_socket.hpp>

#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/net/address_book.hpp>
#include <weft/net/call_counter_test.hpp>
#include <weft/net/loopback_test.hpp>
#include <weft/testing/allocation_counter.hpp>

namespace weft::net {
namespace {

using udp_socket_test = loopback;

const auto kernel_backends = ::testing::Values(backend_kind::epoll, backend_kind::io_uring);
INSTANTIATE_TEST_SUITE_P(backends, udp_socket_test, kernel_backends, backend_name);

struct receive_outcome {
  bool ended = false;
  std::optional<error> failure;
  std::vector<std::string> texts;
};

task<void> receive_once(udp_socket& socket, receive_outcome& outcome) {
  auto batch = co_await socket.receive();
  outcome.ended = true;
  if (!batch) {
    outcome.failure = batch.error();
    co_return;
  }
  for (const datagram& d : *batch) outcome.texts.emplace_back(d.bytes.text());
}

task<std::vector<std::string>> receive_texts(udp_socket& socket, std::size_t count) {
  receive_outcome all;
  while (all.texts.size() < count && !all.failure) co_await receive_once(socket, all);
  co_return all.texts;
}

endpoint any_loopback() { return endpoint::loopback(0); }

TEST_P(udp_socket_test, gives_each_datagram_with_its_peer) {
  run([&]() -> task<void> {
    auto server = udp_socket::bind(loop(), any_loopback());
    auto client = udp_socket::bind(loop(), any_loopback());
    const endpoint to = server->local_endpoint().value();
    EXPECT_TRUE((co_await client->send(to, "question")).has_value());
    const auto asked = co_await server->receive();
    EXPECT_EQ(asked.value().size(), 1U);
    EXPECT_EQ(asked->front().bytes.text(), "question");
    EXPECT_EQ(asked->front().size_bytes, 8U);
    EXPECT_FALSE(asked->front().truncated());
    const endpoint peer{asked->front().peer};
    EXPECT_EQ(peer.to_string(), client->local_endpoint()->to_string());
    EXPECT_TRUE((co_await server->send(peer, std::move(asked->front().bytes))).has_value());
    EXPECT_EQ((co_await receive_texts(*client, 1)).at(0), "question");
  });
}

TEST_P(udp_socket_test, keeps_datagrams_apart_and_in_order_even_empty_ones) {
  run([&]() -> task<void> {
    auto server = udp_socket::bind(loop(), any_loopback());
    auto client = udp_socket::connect(loop(), server->local_endpoint().value());
    std::vector<std::string> sent;
    for (int i = 0; i < 150; ++i) {
      sent.push_back(std::string(static_cast<std::size_t>(i % 7), 'x') +
                     (i % 7 == 0 ? "" : std::to_string(i)));
      EXPECT_TRUE((co_await client->send(sent.back())).has_value());
    }
    EXPECT_TRUE((co_await client->flush()).has_value());
    EXPECT_EQ(co_await receive_texts(*server, sent.size()), sent);
  });
}

TEST_P(udp_socket_test, serves_ipv6) {
  auto server = udp_socket::bind(loop(), endpoint::parse("[::1]:0").value());
  if (!server) GTEST_SKIP() << "no IPv6 here";
  run([&]() -> task<void> {
    auto client = udp_socket::open(loop(), AF_INET6);
    EXPECT_TRUE((co_await client->send(server->local_endpoint().value(), "six")).has_value());
    const auto got = co_await server->receive();
    EXPECT_EQ(got.value().front().bytes.text(), "six");
    const auto& peer = got->front().peer;
    EXPECT_EQ(endpoint{peer}.family(), AF_INET6);
    EXPECT_EQ(endpoint{peer}.port(), client->local_endpoint()->port());
  });
}

TEST_P(udp_socket_test, says_that_a_datagram_was_cut) {
  run([&]() -> task<void> {
    auto server = udp_socket::bind(loop(), any_loopback());
    const raw_socket sender{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    EXPECT_TRUE(sender.connect(server->local_endpoint().value()));
    const std::string most = pattern(datagram_most_bytes);
    const std::string more = pattern(20'000);
    EXPECT_GT(::send(sender.fd(), most.data(), most.size(), 0), 0);
    EXPECT_GT(::send(sender.fd(), more.data(), more.size(), 0), 0);
    std::size_t seen = 0;
    while (seen < 2) {
      const auto batch = co_await server->receive();
      for (const datagram& d : batch.value()) {
        const std::string& sent = seen++ == 0 ? most : more;
        EXPECT_EQ(d.size_bytes, sent.size());
        EXPECT_EQ(d.truncated(), sent.size() > datagram_most_bytes);
        EXPECT_TRUE(d.bytes.text() == sent.substr(0, datagram_most_bytes));
      }
    }
  });
}

TEST_P(udp_socket_test, tells_a_connected_socket_that_nobody_listens_and_goes_on) {
  run([&]() -> task<void> {
    std::optional<endpoint> where;
    {
      const auto gone = udp_socket::bind(loop(), any_loopback());
      where = gone->local_endpoint().value();
    }
    co_await turns(4);
    auto client = udp_socket::connect(loop(), *where);
    EXPECT_TRUE((co_await client->send("anyone?")).has_value());
    EXPECT_TRUE((co_await client->flush()).has_value());
    const auto answer = co_await client->receive();
    EXPECT_EQ(answer.error(), errc::refused);
    auto server = udp_socket::bind(loop(), *where);
    EXPECT_TRUE((co_await client->send("now?")).has_value());
    EXPECT_EQ((co_await receive_texts(*server, 1)).at(0), "now?");
    EXPECT_TRUE((co_await server->send(client->local_endpoint().value(), "yes")).has_value());
    EXPECT_EQ((co_await receive_texts(*client, 1)).at(0), "yes");
  });
}

TEST_P(udp_socket_test, tells_the_next_sender_what_could_not_be_sent) {
  run([&]() -> task<void> {
    auto server = udp_socket::bind(loop(), any_loopback());
    auto client = udp_socket::open(loop(), AF_INET);
    const endpoint to = server->local_endpoint().value();
    const auto long_text = co_await client->send(to, std::string(20'000, 'l'));
    EXPECT_EQ(long_text.error(), errc::limit_exceeded);
    // To everyone on the network, which takes an option this socket has not.
    const auto queued =
        co_await client->send(endpoint::parse("255.255.255.255:9").value(), "broadcast");
    EXPECT_TRUE(queued.has_value());
    EXPECT_TRUE((co_await client->send(to, "fine")).has_value());
    const auto flushed = co_await client->flush();
    const int why = flushed.error().os_errno();
    EXPECT_TRUE(why == EACCES || why == ENETUNREACH) << why << "; the second without a network";
    EXPECT_TRUE((co_await client->flush()).has_value()) << "said once";
    EXPECT_EQ((co_await receive_texts(*server, 1)).at(0), "fine");
  });
}

TEST_P(udp_socket_test, refuses_an_address_that_another_has) {
  const auto first = udp_socket::bind(loop(), any_loopback());
  ASSERT_TRUE(first.has_value());
  const auto second = udp_socket::bind(loop(), first->local_endpoint().value());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error(), errc::address_in_use);
  EXPECT_FALSE(udp_socket::bind(loop(), endpoint::parse("unix:/tmp/x").value()).has_value());
}

TEST_P(udp_socket_test, loses_no_datagram_to_a_cancelled_receive_whichever_comes_first) {
  run([&]() -> task<void> {
    unsigned successes = 0;
    unsigned cancellations = 0;
    for (unsigned order = 0; order < 12; ++order) {
      auto server = udp_socket::bind(loop(), any_loopback());
      const raw_socket sender{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
      EXPECT_TRUE(sender.connect(server->local_endpoint().value()));
      scope tasks{co_await this_task::environment()};
      receive_outcome receiving;
      tasks.spawn(receive_once(*server, receiving));
      co_await turns(2);
      EXPECT_FALSE(receiving.ended);
      if (order == 0) tasks.request_stop();
      EXPECT_EQ(::send(sender.fd(), "precious", 8, 0), 8);
      co_await turns(order);
      tasks.request_stop();
      co_await tasks.join();
      if (receiving.failure) {
        EXPECT_EQ(*receiving.failure, errc::cancelled);
        EXPECT_EQ((co_await receive_texts(*server, 1)).at(0), "precious") << order;
        ++cancellations;
      } else {
        EXPECT_EQ(receiving.texts.at(0), "precious");
        ++successes;
      }
    }
    EXPECT_GT(successes, 0U);
    EXPECT_GT(cancellations, 0U);
  });
}

TEST_P(udp_socket_test, heeds_the_deadline_and_a_stop_before_the_start) {
  run([&]() -> task<void> {
    auto server = udp_socket::bind(loop(), any_loopback());
    const environment& here = co_await this_task::environment();
    environment hurried = here;
    hurried.until = deadline::at(loop().now() + std::chrono::milliseconds{5});
    receive_outcome late;
    co_await receive_once(*server, late).in(hurried);
    EXPECT_EQ(late.failure.value(), errc::timed_out);
    stop_source stopped;
    stopped.request_stop();
    environment ended = here;
    ended.stop = stopped.token();
    receive_outcome never;
    co_await receive_once(*server, never).in(ended);
    EXPECT_EQ(never.failure.value(), errc::cancelled);
  });
}

TEST_P(udp_socket_test, ends_a_receive_when_it_is_dropped) {
  run([&]() -> task<void> {
    std::optional<udp_socket> socket{std::move(udp_socket::bind(loop(), any_loopback()).value())};
    scope tasks{co_await this_task::environment()};
    receive_outcome receiving;
    tasks.spawn(receive_once(*socket, receiving));
    co_await turns(2);
    socket.reset();
    EXPECT_FALSE(receiving.ended);
    co_await tasks.join();
    EXPECT_EQ(receiving.failure.value(), errc::cancelled);
  });
}

TEST_P(udp_socket_test, sends_what_is_queued_when_it_is_dropped) {
  run([&]() -> task<void> {
    auto server = udp_socket::bind(loop(), any_loopback());
    {
      auto client = udp_socket::connect(loop(), server->local_endpoint().value());
      for (int i = 0; i < 3; ++i) EXPECT_TRUE((co_await client->send("last")).has_value());
    }
    EXPECT_EQ((co_await receive_texts(*server, 3)).size(), 3U);
  });
}

task<void> keep_all(udp_socket& socket, std::vector<buffer_ref>& kept, std::size_t count) {
  while (kept.size() < count) {
    auto batch = co_await socket.receive();
    for (datagram& d : batch.value()) kept.push_back(std::move(d.bytes));
  }
}

TEST_P(udp_socket_test, waits_for_a_buffer_when_the_pool_is_empty) {
  constexpr std::size_t slots = 256;
  constexpr std::size_t sent = slots + 64;
  make_loop({.buffers_max = slots});
  run([&]() -> task<void> {
    auto server = udp_socket::bind(loop(), any_loopback());
    const raw_socket sender{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    EXPECT_TRUE(sender.connect(server->local_endpoint().value()));
    scope tasks{co_await this_task::environment()};
    std::vector<buffer_ref> kept;
    tasks.spawn(keep_all(*server, kept, sent));
    for (std::size_t i = 0; i < sent; ++i) {
      EXPECT_EQ(::send(sender.fd(), "b", 1, 0), 1);
      if (i % 32 == 31) co_await turns(8);
    }
    EXPECT_LE(kept.size(), slots);
    EXPECT_GT(kept.size(), slots / 2);
    for (buffer_ref& bytes : kept) bytes.reset();
    co_await tasks.join();
    EXPECT_EQ(kept.size(), sent);
  });
}

/// A Unix socket whose queue is short, so that it can be full: loopback's never is.
class unix_receiver {
 public:
  unix_receiver() : socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)} {
    // Without a name it is given one that nobody has: other runs of this test may be under way.
    const sockaddr_un unnamed{.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(&raw_.storage, &unnamed, sizeof unnamed);
    EXPECT_EQ(::bind(socket_.fd(), raw_.get(), sizeof unnamed.sun_family), 0);
    raw_.size_bytes = sizeof raw_.storage;
    auto* const name = reinterpret_cast<sockaddr*>(&raw_.storage);
    EXPECT_EQ(::getsockname(socket_.fd(), name, &raw_.size_bytes), 0);
  }
  [[nodiscard]] endpoint where() const { return endpoint{raw_}; }
  std::size_t read_all() const {
    std::size_t count = 0;
    char byte = 0;
    while (::recv(socket_.fd(), &byte, 1, 0) > 0) ++count;
    return count;
  }

 private:
  raw_socket socket_;
  raw_address raw_;
};

task<void> flush_datagrams(udp_socket& socket, write_outcome& outcome) {
  outcome.value = co_await socket.flush();
  outcome.ended = true;
}

task<void> send_many(udp_socket& socket, std::size_t count, std::size_t& sent,
                     std::optional<error>& failure) {
  for (; sent < count; ++sent) {
    const auto queued = co_await socket.send("d");
    if (!queued) {
      failure = queued.error();
      co_return;
    }
  }
}

TEST_P(udp_socket_test, slows_its_sender_when_the_kernel_takes_no_more) {
  const unix_receiver receiver;
  run([&]() -> task<void> {
    auto client = udp_socket::connect(loop(), receiver.where());
    std::size_t sent = 0;
    std::optional<error> failure;
    scope tasks{co_await this_task::environment()};
    tasks.spawn(send_many(*client, 1'000, sent, failure));
    co_await turns(10);
    EXPECT_LT(sent, 1'000U) << "the sender waits";
    std::size_t got = 0;
    while (tasks.active() != 0) {
      got += receiver.read_all();
      co_await turns(1);
    }
    co_await tasks.join();
    EXPECT_FALSE(failure.has_value());
    write_outcome flushing;
    tasks.spawn(flush_datagrams(*client, flushing));
    while (!flushing.ended) {
      got += receiver.read_all();
      co_await turns(1);
    }
    co_await tasks.join();
    got += receiver.read_all();
    EXPECT_EQ(got, 1'000U);
  });
}

TEST_P(udp_socket_test, cancels_a_sender_that_waits_and_stays_usable) {
  const unix_receiver receiver;
  run([&]() -> task<void> {
    auto client = udp_socket::connect(loop(), receiver.where());
    std::size_t sent = 0;
    std::optional<error> failure;
    write_outcome flushing;
    scope tasks{co_await this_task::environment()};
    tasks.spawn(send_many(*client, 1'000, sent, failure));
    co_await turns(10);
    tasks.spawn(flush_datagrams(*client, flushing));  // once there is something to flush
    co_await turns(10);
    tasks.request_stop();
    co_await tasks.join();
    EXPECT_EQ(failure.value(), errc::cancelled);
    EXPECT_EQ(flushing.value.error(), errc::cancelled);
    std::size_t got = 0;
    while (got < sent + 1) {
      got += receiver.read_all();
      co_await turns(1);
    }
    EXPECT_EQ(got, sent + 1) << "the send that was cut short had queued its datagram";
    EXPECT_TRUE((co_await client->flush()).has_value());
  });
}

TEST_P(udp_socket_test, may_be_dropped_while_the_kernel_takes_no_more) {
  const unix_receiver receiver;
  run([&]() -> task<void> {
    auto client = udp_socket::connect(loop(), receiver.where());
    for (int i = 0; i < 60; ++i) EXPECT_TRUE((co_await client->send("d")).has_value());
    co_await turns(3);
  });
}

/// AddressSanitizer builds take every coroutine frame from the heap, to see its misuse.
bool frames_are_pooled() {
  frame_pool::deallocate(frame_pool::allocate(64), 64);
  const weft::testing::allocation_counter since;
  frame_pool::deallocate(frame_pool::allocate(64), 64);
  return since.allocations() == 0;
}

TEST_P(udp_socket_test, allocates_nothing_once_warm) {
  if (!frames_are_pooled()) GTEST_SKIP() << "frames come from the heap in this build";
  run([&]() -> task<void> {
    auto server = udp_socket::bind(loop(), any_loopback());
    auto client = udp_socket::connect(loop(), server->local_endpoint().value());
    std::optional<weft::testing::allocation_counter> since;
    for (int round = 0; round < 200; ++round) {
      for (int i = 0; i < 8; ++i) EXPECT_TRUE((co_await client->send("ping")).has_value());
      for (std::size_t echoed = 0; echoed < 8;) {
        auto batch = co_await server->receive();
        for (datagram& d : batch.value())
          EXPECT_TRUE((co_await server->send(endpoint{d.peer}, std::move(d.bytes))).has_value());
        echoed += batch->size();
      }
      for (std::size_t back = 0; back < 8;) back += (co_await client->receive()).value().size();
      if (round == 100) since.emplace();
    }
    EXPECT_EQ(since->allocations(), 0U);
  });
}

TEST_P(udp_socket_test, shares_an_address_among_shards_and_with_no_other_program) {
  address_book book;
  auto first = book.bind_datagrams(loop(), "127.0.0.1:0");
  auto second = book.bind_datagrams(loop(), "127.0.0.1:0");
  ASSERT_TRUE(first.has_value() && second.has_value());
  const endpoint where = first->local_endpoint().value();
  EXPECT_EQ(second->local_endpoint()->to_string(), where.to_string());
  address_book other;
  EXPECT_EQ(other.bind_datagrams(loop(), where.to_string()).error(), errc::address_in_use);
  EXPECT_EQ(book.bind_datagrams(loop(), "nowhere").error(), errc::invalid_argument);
  run([&]() -> task<void> {
    constexpr std::size_t clients = 32;
    for (std::size_t i = 0; i < clients; ++i) {
      auto client = udp_socket::connect(loop(), where);
      EXPECT_TRUE((co_await client->send("hello")).has_value());
    }
    receive_outcome at_first;
    receive_outcome at_second;
    while (at_first.texts.size() + at_second.texts.size() < clients) {
      scope tasks{co_await this_task::environment()};
      tasks.spawn(receive_once(*first, at_first));
      tasks.spawn(receive_once(*second, at_second));
      co_await turns(4);
      tasks.request_stop();
      co_await tasks.join();
    }
    EXPECT_FALSE(at_first.texts.empty());
    EXPECT_FALSE(at_second.texts.empty());
  });
}

constexpr std::size_t batch = 16;

/// Memory that is mapped for the first time costs a call of its own.
/// The pool has what a ring is given of it.
void warm(event_loop& loop) {
  std::vector<buffer_ref> taken(256);
  for (buffer_ref& each : taken) each = loop.buffers().acquire();
}

task<void> receive_between_marks(udp_socket& socket, std::size_t& got) {
  mark();
  while (got < batch) got += (co_await socket.receive()).value().size();
  mark();
}

bool receives_a_batch(backend_kind kind) {
  auto loop = event_loop::create({.backend = kind});
  auto server = udp_socket::bind(**loop, any_loopback());
  const raw_socket sender{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!sender.connect(server->local_endpoint().value())) return false;
  for (std::size_t i = 0; i < batch; ++i) ::send(sender.fd(), "b", 1, 0);
  warm(**loop);
  std::size_t got = 0;
  (*loop)->spawn(receive_between_marks(*server, got));
  (*loop)->run();
  return got == batch;
}

task<void> send_between_marks(udp_socket& socket) {
  mark();
  for (std::size_t i = 0; i < batch; ++i)
    if (!co_await socket.send("b")) co_return;
  if (co_await socket.flush()) mark();
}

bool sends_a_batch(backend_kind kind) {
  auto loop = event_loop::create({.backend = kind});
  auto server = udp_socket::bind(**loop, any_loopback());
  auto client = udp_socket::connect(**loop, server->local_endpoint().value());
  warm(**loop);
  (*loop)->spawn(send_between_marks(*client));
  (*loop)->run();
  return true;
}

class udp_cost_test : public ::testing::TestWithParam<backend_kind> {};
INSTANTIATE_TEST_SUITE_P(backends, udp_cost_test, kernel_backends, backend_name);

TEST_P(udp_cost_test, receives_sixteen_datagrams_with_two_system_calls) {
  const auto calls = system_calls_between_marks([] { return receives_a_batch(GetParam()); });
  if (!calls) GTEST_SKIP() << "a process may not trace its child here";
  RecordProperty("system_calls", static_cast<int>(*calls));
  EXPECT_GE(*calls, 1U);
  EXPECT_LE(*calls, 2U);
}

TEST_P(udp_cost_test, sends_sixteen_datagrams_with_one_system_call) {
  const auto calls = system_calls_between_marks([] { return sends_a_batch(GetParam()); });
  if (!calls) GTEST_SKIP() << "a process may not trace its child here";
  EXPECT_EQ(*calls, 1U);
}

}  // namespace
}  // namespace weft::net
