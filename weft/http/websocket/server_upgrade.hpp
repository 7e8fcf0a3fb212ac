// The server's part of a WebSocket's opening handshake (RFC 6455 section 4.2).
//
// Contract: internal to http; one for a request. agree() checks all that the request must have, and
// has replied what is wrong with it where it says no: 426 for who asks for something else or for
// another version, 400 for what is no handshake, 403 for pages of others. Then socket() makes the
// WebSocket, and accept() replies with 101 and has its handler begin with the connection.
//
//   server_upgrade asked{e, options};
//   if (asked.agree()) asked.accept(handler(asked.socket()));
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include <weft/coro/task.hpp>
#include <weft/http/exchange.hpp>
#include <weft/http/websocket/deflate_parameters.hpp>
#include <weft/http/websocket/websocket.hpp>
#include <weft/http/websocket/websocket_options.hpp>

namespace weft::http::ws {

class server_websocket;

class server_upgrade {
 public:
  /// `options` outlive the route's uses.
  server_upgrade(exchange& e, const websocket_options& options) noexcept;
  server_upgrade(const server_upgrade&) = delete;
  server_upgrade& operator=(const server_upgrade&) = delete;
  ~server_upgrade();

  [[nodiscard]] bool agree();
  [[nodiscard]] websocket& socket();
  void accept(task<void> work);

 private:
  /// Of HTTP/2, whose handshake has no keys (RFC 8441 section 5).
  [[nodiscard]] bool is_stream() const noexcept;
  [[nodiscard]] bool asks_for_websocket();
  [[nodiscard]] bool has_key_and_version();
  [[nodiscard]] bool may_come_from_its_page();
  [[nodiscard]] bool choose_subprotocol();
  void choose_compression();
  [[nodiscard]] bool refuse(status code, std::string_view why, std::string_view fields = {});

  exchange& exchange_;
  const websocket_options& options_;
  std::string_view subprotocol_;
  std::optional<deflate_parameters> deflate_;
  std::unique_ptr<server_websocket> made_;
};

}  // namespace weft::http::ws
