// A WebSocket of the server, with the handler that it is lent to.
//
// Contract: internal to http. Made with the answer to a handshake; begun with the connection, when
// its handler starts as a task of the host's. When the handler has returned it closes in good
// order, and deletes itself; a handler that throws closes it with 1011. A server that drains, and a
// service that ends, say 1001; a handler that goes on websocket_limits::close_timeout after all is
// over is asked to stop. One shard.
#pragma once

#include <optional>
#include <string>

#include <weft/coro/stop_token.hpp>
#include <weft/coro/task.hpp>
#include <weft/http/connection_host.hpp>
#include <weft/http/route_table.hpp>
#include <weft/http/upgraded.hpp>
#include <weft/http/websocket/session.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/service/lifetime.hpp>

namespace weft::http::ws {

class server_websocket final : public session, public upgraded, private registration {
 public:
  /// `match`: of the route that it was asked for at.
  server_websocket(const session_terms& terms, connection_host& host, const route_match& match);
  ~server_websocket() override { client_link::leave(host_); }

  [[nodiscard]] websocket& socket() noexcept { return socket_; }
  /// May throw, which begin() cannot: makes the coroutine that begin() starts.
  void set_work(task<void> work) {
    work_.emplace(std::move(work));
    running_.emplace(run());
  }

  void leave_if_idle() noexcept override { say_goodbye(); }
  void cut() noexcept override { session::cut(); }
  [[nodiscard]] std::string description() const override;

 private:
  void say_goodbye() noexcept { start_close(close_code::going_away, "the server ends"); }
  void begin(upgraded_link link) noexcept override;
  [[nodiscard]] task<void> run();
  void on_overstay() noexcept override { stop_.request_stop(); }
  void on_over() noexcept override { delete this; }
  static void on_service_end(registration& self) noexcept;

  connection_host& host_;
  memory_reservation memory_;
  route_table::use route_;
  stop_source stop_;
  environment env_;
  std::optional<task<void>> work_;
  std::optional<task<void>> running_;  // until it has begun
  websocket socket_;
};

}  // namespace weft::http::ws
