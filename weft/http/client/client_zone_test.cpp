// IPv6 addresses with a zone: connections, fields and redirects.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weft/net/tcp_listener.hpp>
#include <weft/testing/client_fixture.hpp>

namespace weft::http {
namespace {

using testing::client_fixture;
using testing::http_client;
using testing::take_request;

/// The name of the loopback interface, which is the first.
std::string loopback_interface() {
  std::array<char, IF_NAMESIZE> name{};
  return ::if_indextoname(1, name.data()) == nullptr ? "" : name.data();
}

/// "fe80::1%eth0", of this machine; none: it has no such address.
std::optional<std::string> link_local_address() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> kept{all, &::freeifaddrs};
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET6) continue;
    const auto& in = reinterpret_cast<const sockaddr_in6&>(*each->ifa_addr);
    if (!IN6_IS_ADDR_LINKLOCAL(&in.sin6_addr) || (each->ifa_flags & IFF_RUNNING) == 0) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET6, &in.sin6_addr, text.data(), text.size());
    return std::string{text.data()} + "%" + each->ifa_name;
  }
  return std::nullopt;
}

/// With a server that answers each request with its head.
class client_zone : public client_fixture {
 protected:
  template <class F>
  void run_beside_echo(std::string_view where, F body) {
    run([&]() -> task<void> {
      const auto address = net::endpoint::parse(where);
      EXPECT_TRUE(address.has_value()) << where;
      if (!address) co_return;
      auto listener = net::tcp_listener::bind(loop(), *address);
      EXPECT_TRUE(listener.has_value()) << where;
      if (!listener) co_return;
      scope work{co_await this_task::environment()};
      work.spawn(accept_all(*listener, work));
      client asking{{.redirects = 3}, loop(), world().metrics().shard(0)};
      co_await body(asking, listener->local_endpoint().port());
      const auto stopped = co_await asking.stop();
      EXPECT_TRUE(stopped.has_value());
      work.request_stop();
      co_await work.join();
    });
  }
  unsigned connections_ = 0;

 private:
  task<void> accept_all(net::tcp_listener& listener, scope& work) {
    while (auto stream = co_await listener.accept()) {
      ++connections_;
      work.spawn(answer_all(http_client{std::move(*stream)}));
    }
  }
  static task<void> answer_all(http_client peer) {
    for (;;) {
      std::string head = co_await peer.receive();
      if (head.empty()) co_return;
      if (head.starts_with("GET /near"))
        co_await peer.send("HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 0\r\n\r\n");
      else if (head.starts_with("GET /whole"))
        co_await peer.send(
            weft::format("HTTP/1.1 302 Found\r\nLocation: http://{}/end\r\n"
                         "Content-Length: 0\r\n\r\n",
                         host_of(head)));
      else
        co_await peer.send(
            weft::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", head.size(), head));
    }
  }
  static std::string host_of(std::string_view head) {
    const std::size_t begin = head.find("Host: ") + 6;
    return std::string{head.substr(begin, head.find('\r', begin) - begin)};
  }
};
INSTANTIATE_TEST_SUITE_P(on, client_zone,
                         ::testing::Values(backend_kind::epoll, backend_kind::io_uring),
                         testing::backend_name);

TEST_P(client_zone, is_no_part_of_what_is_sent) {
  const std::string zone = loopback_interface();
  run_beside_echo("[::1]:0", [&](client& asking, unsigned port) -> task<void> {
    for (const std::string_view mark : {"%25", "%"}) {
      const auto answer =
          co_await asking.get(weft::format("http://[::1{}{}]:{}/x", mark, zone, port));
      EXPECT_TRUE(answer.has_value()) << answer.error().message();
      if (!answer) continue;
      EXPECT_TRUE(answer->body().starts_with("GET /x HTTP/1.1\r\n")) << answer->body();
      EXPECT_TRUE(answer->body().contains(weft::format("\r\nHost: [::1]:{}\r\n", port)))
          << answer->body();
      EXPECT_FALSE(answer->body().contains(zone)) << answer->body();
    }
    EXPECT_EQ(connections_, 1U) << "both name the same";
  });
}

TEST_P(client_zone, may_be_a_number) {
  run_beside_echo("[::1]:0", [&](client& asking, unsigned port) -> task<void> {
    const auto answer = co_await asking.get(weft::format("http://[::1%251]:{}/x", port));
    EXPECT_TRUE(answer.has_value()) << answer.error().message();
  });
}

TEST_P(client_zone, has_connections_of_its_own) {
  const std::string zone = loopback_interface();
  run_beside_echo("[::1]:0", [&](client& asking, unsigned port) -> task<void> {
    const auto without = co_await asking.get(weft::format("http://[::1]:{}/x", port));
    EXPECT_TRUE(without.has_value()) << without.error().message();
    const auto with = co_await asking.get(weft::format("http://[::1%25{}]:{}/x", zone, port));
    EXPECT_TRUE(with.has_value()) << with.error().message();
    EXPECT_EQ(connections_, 2U);
  });
}

TEST_P(client_zone, of_no_interface_is_said_to_be_none) {
  run_beside_echo("[::1]:0", [&](client& asking, unsigned port) -> task<void> {
    for (const std::string_view wrong : {"weft-none9", "4294967295"}) {
      const auto answer =
          co_await asking.get(weft::format("http://[fe80::1%25{}]:{}/x", wrong, port));
      EXPECT_FALSE(answer.has_value());
      if (answer) continue;
      EXPECT_EQ(answer.error(), errc::not_found) << answer.error().message();
      EXPECT_TRUE(answer.error().message().contains(wrong)) << answer.error().message();
      EXPECT_TRUE(answer.error().message().contains("network interface"))
          << answer.error().message();
    }
  });
}

TEST_P(client_zone, is_what_a_link_local_address_is_reached_through) {
  const auto own = link_local_address();
  if (!own) GTEST_SKIP() << "this machine has no link-local address";
  const std::string address = own->substr(0, own->find('%'));
  const std::string zone = own->substr(own->find('%') + 1);
  run_beside_echo(weft::format("[{}]:0", *own), [&](client& asking, unsigned port) -> task<void> {
    for (const std::string_view path : {"/near", "/whole", "/end"}) {
      const auto answer =
          co_await asking.get(weft::format("http://[{}%25{}]:{}{}", address, zone, port, path));
      EXPECT_TRUE(answer.has_value()) << path << ": " << answer.error().message();
      if (answer)
        EXPECT_TRUE(answer->body().contains(weft::format("Host: [{}]:{}\r\n", address, port)))
            << answer->body();
    }
  });
}

}  // namespace
}  // namespace weft::http
