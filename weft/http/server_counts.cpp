#include <weft/http/server_counts.hpp>

namespace weft::http {
namespace {

telemetry::counter replies_of(telemetry::meter& meter, std::string_view status_class) {
  return meter.counter("http_replies_total", "Replies, by the class of their status",
                       {{"class", status_class}});
}

telemetry::counter cut_for(telemetry::meter& meter, std::string_view reason) {
  return meter.counter("http2_connections_cut_total",
                       "Connections over HTTP/2 that went beyond a bound, or broke the protocol",
                       {{"reason", reason}});
}

}  // namespace

server_counts::server_counts(telemetry::meter& meter)
    : connections{meter.gauge("http_connections", "Connections open")},
      accepted{meter.counter("http_connections_total", "Connections accepted")},
      turned_away{meter.counter("http_connections_refused_total",
                                "Connections beyond the limit or without memory, refused")},
      replies{replies_of(meter, "1xx"), replies_of(meter, "2xx"), replies_of(meter, "3xx"),
              replies_of(meter, "4xx"), replies_of(meter, "5xx")},
      received_bytes{meter.counter("http_received_bytes_total",
                                   "Bytes of requests received, heads and bodies")},
      body_bytes{meter.counter("http_reply_body_bytes_total",
                               "Bytes of replies' bodies given to be sent, before chunking")},
      slow_readers{meter.counter(
          "http_slow_readers_total",
          "Replies, and connections with their replies, given up since clients took too little")},
      http2_connections{meter.counter("http2_connections_total", "Connections that spoke HTTP/2")},
      http2_stalled{meter.counter("http2_streams_stalled_total",
                                  "Streams reset since the client took too little of the reply")},
      http2_cut{cut_for(meter, "resets"), cut_for(meter, "idle_frames"),
                cut_for(meter, "header_bomb"), cut_for(meter, "slow_head"),
                cut_for(meter, "protocol")},
      waits{meter.histogram("http_handler_wait_ns",
                            "Time that handlers took which had to wait, in nanoseconds")} {}

}  // namespace weft::http
