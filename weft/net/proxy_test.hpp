// What tests of clients put between those and their server, to break, hold or change what is said.
//
//   class cutting_proxy : public net::test_proxy {
//     using test_proxy::test_proxy;
//     task<bool> on_text(said&, std::string& text) override { co_return --left_ > 0; }
//   };
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/coro/scope.hpp>
#include <weft/net/connector.hpp>
#include <weft/net/tcp_listener.hpp>

namespace weft::net {

class test_proxy {
 public:
  enum class side : std::uint8_t { client, server };

  test_proxy(event_loop& loop, endpoint server)
      : loop_{loop},
        server_{std::move(server)},
        door_{std::move(*tcp_listener::bind(loop, endpoint::loopback(0)))} {}
  test_proxy(const test_proxy&) = delete;
  test_proxy& operator=(const test_proxy&) = delete;
  virtual ~test_proxy() = default;

  [[nodiscard]] endpoint address() const { return door_.local_endpoint(); }
  /// How many clients there have been.
  [[nodiscard]] std::size_t clients() const noexcept { return clients_; }

  /// Clients, until the task is asked to stop.
  task<void> serve() {
    scope all{co_await this_task::environment()};
    while (auto client = co_await door_.accept()) all.spawn(pass_on(std::move(*client)));
    all.request_stop();
    co_await all.join();
  }

  /// One client, until it or the server ends.
  task<void> serve_one() {
    auto client = co_await door_.accept();
    EXPECT_TRUE(client);
    if (client) co_await pass_on(std::move(*client));
  }

 protected:
  /// Who says something, and to whom an answer could be given.
  struct said {
    side whose;
    std::size_t client;  ///< its number, from 0
    tcp_stream& from;
  };
  /// May change `text`, which is passed on then. False breaks off after that.
  virtual task<bool> on_text(said& by, std::string& text) = 0;

 private:
  task<void> pass_on(tcp_stream client) {
    const std::size_t number = clients_++;
    auto names = resolver::create(loop_);
    if (auto server = co_await connect(loop_, *names, server_.to_string())) {
      scope both{co_await this_task::environment()};
      both.spawn(pass({side::client, number, client}, *server, both));
      both.spawn(pass({side::server, number, *server}, client, both));
      co_await both.join();
      std::ignore = co_await server->close();
    }
    std::ignore = co_await client.close();
  }

  task<void> pass(said by, tcp_stream& to, scope& both) {
    while (auto bytes = co_await by.from.read()) {
      if (bytes->empty()) break;
      std::string text{bytes->text()};
      const bool goes_on = co_await on_text(by, text);
      if (!text.empty() && !co_await to.write(std::move(text))) break;
      if (!goes_on) break;
    }
    both.request_stop();
  }

  event_loop& loop_;
  endpoint server_;
  tcp_listener door_;
  std::size_t clients_ = 0;
};

}  // namespace weft::net
