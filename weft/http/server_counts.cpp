#include <weft/http/server_counts.hpp>

namespace weft::http {
namespace {

telemetry::counter replies_of(telemetry::meter& meter, std::string_view status_class) {
  return meter.counter("http_replies_total", "Replies, by the class of their status",
                       {{"class", status_class}});
}

}  // namespace

server_counts::server_counts(telemetry::meter& meter)
    : connections{meter.gauge("http_connections", "Connections open")},
      accepted{meter.counter("http_connections_total", "Connections accepted")},
      turned_away{
          meter.counter("http_connections_refused_total", "Connections beyond the limit, refused")},
      replies{replies_of(meter, "1xx"), replies_of(meter, "2xx"), replies_of(meter, "3xx"),
              replies_of(meter, "4xx"), replies_of(meter, "5xx")},
      received_bytes{meter.counter("http_received_bytes_total",
                                   "Bytes of requests received, heads and bodies")},
      body_bytes{meter.counter("http_reply_body_bytes_total",
                               "Bytes of replies' bodies given to be sent, before chunking")},
      waits{meter.histogram("http_handler_wait_ns",
                            "Time that handlers took which had to wait, in nanoseconds")} {}

}  // namespace weft::http
