// An HTTP server and its clients in one loop: what a service is tested in.
//
// Problem: a handler is tested best from outside, by what a client sees, and a test of a minute's
// timeout should take no time. Contract: routes are added to server(), then run() starts it, runs
// the body, stops the server and returns when all has ended; an exception that leaves the body is
// rethrown. On backend_kind::simulated no socket is made, all is deterministic, and time jumps to
// the next timer when nothing can run; on the others it listens on a port of its own of the
// loopback interface, and time is real. One world a thread at a time; run() once.
//
//   weft::testing::http_world world;
//   world.server().get("/", [] { return "hello"; });
//   world.run([&]() -> weft::task<void> {
//     auto client = co_await world.connect();
//     EXPECT_EQ((co_await client.ask("GET", "/")).body, "hello");
//   });
#pragma once

#include <exception>
#include <memory>

#include <weft/base/unique_function.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/server.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/net/address_book.hpp>
#include <weft/telemetry/registry.hpp>
#include <weft/testing/http_client.hpp>

namespace weft::testing {

class http_world {
 public:
  /// Throws std::system_error if the loop is not to be had. `options.listen` is not looked at.
  explicit http_world(backend_kind kind = backend_kind::simulated,
                      http::server_options options = {});
  http_world(const http_world&) = delete;
  http_world& operator=(const http_world&) = delete;
  ~http_world();

  [[nodiscard]] event_loop& loop() noexcept { return *loop_; }
  [[nodiscard]] http::server& server() noexcept { return *server_; }
  /// What the server counts in.
  [[nodiscard]] telemetry::registry& metrics() noexcept { return metrics_; }

  void run(unique_function<task<void>()> body);

  /// A new connection to the server. Throws std::system_error if there is none to be had.
  [[nodiscard]] task<http_client> connect();
  /// On the loop's clock, which on memory jumps there as soon as all others wait.
  [[nodiscard]] task<void> sleep(duration length);

 private:
  task<void> drive(unique_function<task<void>()> body);

  std::unique_ptr<event_loop> loop_;
  net::address_book addresses_;
  telemetry::registry metrics_;
  std::unique_ptr<http::server> server_;
  std::exception_ptr failure_;
};

}  // namespace weft::testing
