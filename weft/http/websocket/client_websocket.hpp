// The client's part of a WebSocket: the opening handshake (RFC 6455 section 4.1), and what a client
// keeps of one that is open.
//
// Contract: internal to http. shake_hands() has a connection to the server, or a tunnel to it, and
// obeys its task; whatever the server answers that it must not fails. The WebSocket goes on when
// the client has been stopped, but its connection is cut then. One shard.
#pragma once

#include <expected>
#include <string>

#include <weft/coro/task.hpp>
#include <weft/http/client/client_core.hpp>
#include <weft/http/client/request_fault.hpp>
#include <weft/http/websocket/session.hpp>
#include <weft/http/websocket/websocket.hpp>
#include <weft/http/websocket/websocket_options.hpp>

namespace weft::http::ws {

/// What its session refers to.
struct client_session_parts {
  websocket_limits limits;
  websocket_counts counts;
  std::string subprotocol;
};

class client_websocket final : private client_session_parts, public session, private open_stream {
 public:
  client_websocket(client_core& core, client_session_parts parts,
                   const std::optional<deflate_parameters>& deflate);
  ~client_websocket() override;

 private:
  void on_over() noexcept override { delete this; }
  static void on_cut(open_stream& self) noexcept;
};

/// `fields`: of the request, that its caller adds.
struct handshake_request {
  url_parts to;
  std::string_view fields;
};

[[nodiscard]] task<std::expected<websocket, request_fault>> shake_hands(
    client_core& core, net::tcp_stream stream, handshake_request asked,
    const websocket_client_options& options);

}  // namespace weft::http::ws
