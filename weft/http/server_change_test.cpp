// A server that a container changes while it serves: handlers among those who ask for it.
#include <weft/http/server.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weft/base/log.hpp>
#include <weft/coro/deadline.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/loop/make_backend.hpp>
#include <weft/loop/sleep.hpp>
#include <weft/net/address_book.hpp>
#include <weft/service/container.hpp>
#include <weft/telemetry/registry.hpp>
#include <weft/testing/http_client.hpp>

namespace weft::http {
namespace {

using testing::http_client;
using testing::http_reply;

std::string said(const result<void>& how) {
  return how ? "well" : std::string{to_string(how.error().code())};
}

/// Is asked over HTTP to end the server, and does not need that itself.
struct caretaker {
  caretaker(container& all, maybe<server> http, lifetime& mine) : services{all}, own{mine} {
    http->post("/restart", [this]() -> task<std::string> {
      co_return said(co_await services.restart(the_server()));
    });
    http->post("/stop", [this]() -> task<std::string> {
      co_return said(co_await services.stop(the_server()));
    });
    http->post("/restart-later", [this]() -> task<void> {
      own.spawn(restart_later());
      co_return;
    });
  }
  [[nodiscard]] service_handle the_server() const { return services.handle_of<server>().value(); }
  task<void> restart_later() { how_it_went = said(co_await services.restart(the_server())); }

  container& services;
  lifetime& own;
  std::string how_it_went;
};

class server_change : public ::testing::Test {
 protected:
  server_change() {
    log::set_level(log::level::off);
    services.provide(*loop);
    services.provide(addresses);
    services.provide(metrics.shard(0));
    services.add<server>({.listen = "127.0.0.1:0", .drain_idle = duration::zero()});
    services.add<caretaker>();
  }
  ~server_change() override { log::set_level(log::level::info); }

  task<void> connect_and_ask(std::string_view target, http_reply& answer) {
    auto stream = co_await net::tcp_stream::connect(*loop, services.get<server>().local_endpoint());
    if (!stream) co_return;
    http_client client{std::move(*stream)};
    answer = co_await client.ask("POST", target);
  }
  /// In less than a second of the loop's time, or it is nothing.
  task<http_reply> ask(std::string_view target) {
    http_reply answer;
    environment bounded = co_await this_task::environment();
    bounded.until = deadline::at(loop->now() + std::chrono::seconds{1});
    co_await connect_and_ask(target, answer).in(bounded);
    co_return answer;
  }

  template <class F>
  void run(F meanwhile) {
    loop->spawn(live(std::move(meanwhile)));
    loop->run();
  }
  template <class F>
  task<void> live(F meanwhile) {
    const result<void> up = co_await services.start();
    EXPECT_EQ(said(up), "well");
    co_await meanwhile();
    const result<void> down = co_await services.stop();
    EXPECT_EQ(said(down), "well");
  }

  std::unique_ptr<event_loop> loop = *event_loop::create({.backend = backend_kind::simulated});
  net::address_book addresses;
  telemetry::registry metrics;
  container services;
};

TEST_F(server_change, is_refused_to_a_handler_which_it_would_wait_for) {
  run([&]() -> task<void> {
    const http_reply restart = co_await ask("/restart");
    EXPECT_EQ(restart.body, "invalid_argument");
    const http_reply stop = co_await ask("/stop");
    EXPECT_EQ(stop.body, "invalid_argument");
  });
}

TEST_F(server_change, is_made_by_a_task_that_a_handler_spawns) {
  run([&]() -> task<void> {
    const http_reply answer = co_await ask("/restart-later");
    EXPECT_EQ(answer.status, 204);
    static_cast<void>(co_await sleep_for(*loop, std::chrono::seconds{1}));
    EXPECT_EQ(services.get<caretaker>().how_it_went, "well");
  });
}

}  // namespace
}  // namespace weft::http
