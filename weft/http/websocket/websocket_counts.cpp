#include <weft/http/websocket/websocket_counts.hpp>

#include <string>

namespace weft::http {
namespace {

telemetry::counter total(telemetry::meter& meter, std::string_view prefix, std::string_view name,
                         std::string_view help) {
  return meter.counter(std::string{prefix}.append(name).append("_total"), help);
}

}  // namespace

websocket_counts::websocket_counts(telemetry::meter& meter, std::string_view prefix)
    : open{meter.gauge(std::string{prefix}.append("s"), "WebSockets open")},
      opened{total(meter, prefix, "s", "WebSockets opened")},
      messages_received{total(meter, prefix, "_messages_received", "Messages received")},
      messages_sent{total(meter, prefix, "_messages_sent", "Messages queued to be sent")},
      bytes_received{total(meter, prefix, "_received_bytes", "Bytes of messages received")},
      bytes_sent{total(meter, prefix, "_sent_bytes", "Bytes of messages queued to be sent")},
      failed{total(meter, prefix, "s_failed",
                   "WebSockets whose other end broke the protocol or a limit")},
      lost{total(meter, prefix, "s_lost", "WebSockets that ended without a close frame")} {}

}  // namespace weft::http
