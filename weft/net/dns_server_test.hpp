// A small DNS server for tests, on loopback: answers from a list, or misbehaves as told (RFC 1035).
//
// Contract: serves on the loop it was made for, in a scope of its own, from the constructor to
// `co_await stop()`. Names that are not listed do not exist.
//
//   dns_server dns{loop(), co_await this_task::environment()};
//   dns.add("www.test", {.ipv4 = {"192.0.2.7"}});
//   auto names = resolver::create(loop(), {.servers = {dns.address()}});
//   co_await dns.stop();
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/coro/scope.hpp>
#include <weft/net/loopback_test.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/net/udp_socket.hpp>

namespace weft::net {

enum class dns_manner : std::uint8_t {
  answers,
  is_silent,
  refuses,
  sends_garbage_first,  // datagrams that are no answer to the question, and then the answer
  is_malformed,         // the question's header and name, and nonsense behind them
  is_truncated,         // over UDP: the whole answer is to be had over TCP
};

struct dns_name {
  std::vector<std::string> ipv4{};
  std::vector<std::string> ipv6{};
  dns_manner manner = dns_manner::answers;
  dns_manner ipv6_manner = dns_manner::answers;  // if it differs
  int ignored = 0;                               // questions to pass over at first
};

class dns_server {
 public:
  dns_server(event_loop& loop, const environment& env) : dns_server{free_port(loop), env} {}

  [[nodiscard]] std::string address() const { return socket_.local_endpoint()->to_string(); }
  [[nodiscard]] int questions() const noexcept { return questions_; }
  [[nodiscard]] int questions_over_tcp() const noexcept { return questions_over_tcp_; }

  task<void> stop() {
    tasks_.request_stop();
    co_await tasks_.join();
  }

  void add(std::string name, dns_name known) {
    names_.emplace_back(std::move(name), std::move(known));
  }

 private:
  using entry = std::pair<std::string, dns_name>;

  static constexpr std::size_t header_bytes = 12;
  static constexpr std::uint16_t type_a = 1;
  static constexpr std::uint16_t type_aaaa = 28;
  static constexpr std::uint8_t refused = 5;
  static constexpr std::uint8_t no_such_name = 3;

  struct question {
    std::string name;
    std::string wire;  // as it came, behind the header
    std::uint16_t type = 0;
  };

  struct sockets {
    udp_socket datagrams;
    tcp_listener streams;
  };

  dns_server(sockets&& taken, const environment& env)
      : socket_{std::move(taken.datagrams)}, listener_{std::move(taken.streams)}, tasks_{env} {
    tasks_.spawn(serve_datagrams());
    tasks_.spawn(serve_streams());
  }

  /// One port for both protocols: what is free for one may not be for the other.
  static sockets free_port(event_loop& loop) {
    for (;;) {
      udp_socket datagrams = udp_socket::bind(loop, endpoint::loopback(0)).value();
      auto streams = tcp_listener::bind(loop, datagrams.local_endpoint().value());
      if (streams) return {std::move(datagrams), std::move(*streams)};
    }
  }

  static question parse(std::string_view message) {
    question q;
    std::size_t at = header_bytes;
    while (message[at] != 0) {
      const auto length = static_cast<std::size_t>(message[at]);
      q.name += (q.name.empty() ? "" : ".") + std::string{message.substr(at + 1, length)};
      at += length + 1;
    }
    q.type = static_cast<std::uint16_t>(static_cast<unsigned char>(message[at + 1]) << 8U |
                                        static_cast<unsigned char>(message[at + 2]));
    q.wire = message.substr(header_bytes, at + 5 - header_bytes);
    return q;
  }

  static void put16(std::string& into, unsigned value) {
    into += static_cast<char>(value >> 8U);
    into += static_cast<char>(value);
  }

  static std::string header(std::string_view asked, unsigned flags, std::size_t answers) {
    std::string text{asked.substr(0, 2)};
    put16(text, 0x8180U | flags);
    put16(text, 1);
    put16(text, static_cast<unsigned>(answers));
    put16(text, 0);
    put16(text, 0);
    return text;
  }

  static std::string record(std::uint16_t type, const std::string& address) {
    std::string text{"\xC0\x0C", 2};  // the question's name
    put16(text, type);
    put16(text, 1);
    put16(text, 0);
    put16(text, 60);
    std::array<char, sizeof(in6_addr)> bytes{};
    ::inet_pton(type == type_a ? AF_INET : AF_INET6, address.c_str(), bytes.data());
    const std::size_t size = type == type_a ? sizeof(in_addr) : sizeof(in6_addr);
    put16(text, static_cast<unsigned>(size));
    return text.append(bytes.data(), size);
  }

  static std::string answer(std::string_view asked, const question& q, const dns_name& known) {
    const auto& addresses = q.type == type_a ? known.ipv4 : known.ipv6;
    std::string text = header(asked, 0, addresses.size()) + q.wire;
    for (const std::string& address : addresses) text += record(q.type, address);
    return text;
  }

  /// What to send back over UDP, in order.
  std::vector<std::string> replies(std::string_view asked, const question& q) {
    const auto found = std::ranges::find(names_, q.name, &entry::first);
    if (found == names_.end()) return {header(asked, no_such_name, 0) + q.wire};
    dns_name& known = found->second;
    if (known.ignored > 0) {
      --known.ignored;
      return {};
    }
    const bool differs = q.type == type_aaaa && known.ipv6_manner != dns_manner::answers;
    switch (differs ? known.ipv6_manner : known.manner) {
      case dns_manner::is_silent: return {};
      case dns_manner::refuses: return {header(asked, refused, 0) + q.wire};
      case dns_manner::is_malformed: return {header(asked, 0, 3) + q.wire + "\xC0"};
      case dns_manner::is_truncated: return {header(asked, 0x0200, 0) + q.wire};
      case dns_manner::sends_garbage_first: {
        std::string other_id = answer(asked, q, known);
        other_id[0] = static_cast<char>(other_id[0] + 1);
        return {"?", std::string(64, '\xFF'), other_id, answer(asked, q, known)};
      }
      case dns_manner::answers: break;
    }
    return {answer(asked, q, known)};
  }

  task<void> serve_datagrams() {
    for (;;) {
      auto batch = co_await socket_.receive();
      if (!batch && batch.error() == errc::cancelled) co_return;
      if (!batch) continue;
      for (datagram& d : *batch) {
        ++questions_;
        const std::string_view asked = d.bytes.text();
        for (const std::string& reply : replies(asked, parse(asked)))
          EXPECT_TRUE((co_await socket_.send(endpoint{d.peer}, reply)).has_value());
      }
    }
  }

  task<void> serve_streams() {
    while (auto stream = co_await listener_.accept()) {
      const auto bytes = co_await stream->read();
      if (!bytes || bytes->size() < 2) continue;
      ++questions_over_tcp_;
      const std::string_view asked = bytes->text().substr(2);
      const question q = parse(asked);
      const std::string reply =
          answer(asked, q, std::ranges::find(names_, q.name, &entry::first)->second);
      std::string framed;
      put16(framed, static_cast<unsigned>(reply.size()));
      EXPECT_TRUE((co_await stream->write(framed + reply)).has_value());
      // The client ends the connection.
      if (co_await stream->read()) continue;
    }
  }

  std::vector<entry> names_;
  udp_socket socket_;
  tcp_listener listener_;
  scope tasks_;
  int questions_ = 0;
  int questions_over_tcp_ = 0;
};

}  // namespace weft::net
