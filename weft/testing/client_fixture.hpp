// A client beside a server in one loop, and servers that do exactly what they are told: what
// services are tested against that ask others.
//
// Contract: as http_fixture.hpp's. Header only: who includes it brings GoogleTest.
//
//   class orders_test : public weft::testing::client_fixture {};
//   INSTANTIATE_TEST_SUITE_P(on, orders_test, backends, backend_name);
//   TEST_P(orders_test, gives_up_on_who_says_nothing) {
//     run_against([](unsigned, http_client& peer) -> task<void> { co_await peer.receive(); }, {},
//                 [&](http::client& asking, scripted_server& server) -> task<void> {
//                   auto answer = co_await with_timeout(20ms, asking.get(server.url()));
//                   EXPECT_EQ(answer.error(), errc::timed_out);
//                 });
//   }
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include <weft/base/format.hpp>
#include <weft/base/unique_function.hpp>
#include <weft/coro/scope.hpp>
#include <weft/http/client/client.hpp>
#include <weft/net/tcp_listener.hpp>
#include <weft/testing/http_fixture.hpp>

namespace weft::testing {

/// A server without HTTP: what it does with a connection is told, by the connection's number.
class scripted_server {
 public:
  using script = unique_function<task<void>(unsigned number, http_client& peer)>;

  scripted_server(event_loop& loop, const environment& env, script plays)
      : listener_{net::tcp_listener::bind(loop, net::endpoint::loopback(0)).value()},
        plays_{std::move(plays)},
        work_{env} {
    work_.spawn(accept_all());
  }

  [[nodiscard]] std::string url(std::string_view path = "/") const {
    return weft::format("http://127.0.0.1:{}{}", listener_.local_endpoint().port(), path);
  }
  [[nodiscard]] unsigned connections() const noexcept { return accepted_; }
  [[nodiscard]] task<void> stop() {
    work_.request_stop();
    co_await work_.join();
  }

 private:
  task<void> accept_all() {
    while (auto stream = co_await listener_.accept())
      work_.spawn(serve(http_client{std::move(*stream)}, accepted_++));
  }
  task<void> serve(http_client peer, unsigned number) { co_await plays_(number, peer); }

  net::tcp_listener listener_;
  script plays_;
  scope work_;
  unsigned accepted_ = 0;
};

class client_fixture : public each_backend {
 protected:
  using peer = http_client;

  /// `body` has the client, until it ends.
  template <class F>
  void run_with_client(http::client_options options, F body) {
    run([&]() -> task<void> {
      http::client asking{std::move(options), loop(), world().metrics().shard(0)};
      co_await body(asking);
      const result<void> stopped = co_await asking.stop();
      EXPECT_TRUE(stopped.has_value());
      EXPECT_EQ(counted("http_client_connections"), 0);
    });
  }
  template <class F>
  void run_with_client(F body) {
    run_with_client(http::client_options{}, std::move(body));
  }

  /// `body` has the client and a server that plays `script`.
  template <class F>
  void run_against(scripted_server::script script, http::client_options options, F body) {
    run_with_client(std::move(options), [&](http::client& asking) -> task<void> {
      scripted_server server{loop(), co_await this_task::environment(), std::move(script)};
      co_await body(asking, server);
      co_await server.stop();
    });
  }

  [[nodiscard]] std::string url(std::string_view path) {
    return weft::format("http://127.0.0.1:{}{}", http().local_endpoint().port(), path);
  }
  [[nodiscard]] std::int64_t counted(std::string_view name) {
    const auto seen = world().metrics().read();
    const auto* const found = seen.find(name);
    return found == nullptr ? -1 : found->value;
  }
};

/// A request has come, up to the end of its head.
inline task<bool> take_request(http_client& peer) {
  std::string text;
  while (!text.contains("\r\n\r\n")) {
    const std::string more = co_await peer.receive();
    if (more.empty()) co_return false;
    text += more;
  }
  co_return true;
}

}  // namespace weft::testing
