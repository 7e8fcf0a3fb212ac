// What the WebSockets of a server, or of a client, count.
//
// Contract: internal to http; as server_counts.hpp. Names begin with `http_websocket` or
// `http_client_websocket`.
//
//   counts.messages_received.add();  // http_websocket_messages_received_total
#pragma once

#include <string_view>

#include <weft/telemetry/instruments.hpp>
#include <weft/telemetry/meter.hpp>

namespace weft::http {

struct websocket_counts {
  websocket_counts(telemetry::meter& meter, std::string_view prefix);

  telemetry::gauge open;
  telemetry::counter opened;
  telemetry::counter messages_received;
  telemetry::counter messages_sent;
  telemetry::counter bytes_received;  // payloads of messages, as programs see them
  telemetry::counter bytes_sent;
  telemetry::counter failed;  // the other end broke the protocol or a limit
  telemetry::counter lost;    // no pong came, or nothing was closed in good order
};

}  // namespace weft::http
