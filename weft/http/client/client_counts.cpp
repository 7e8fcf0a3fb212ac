#include <weft/http/client/client_counts.hpp>

namespace weft::http {

client_counts::client_counts(telemetry::meter& meter)
    : requests{meter.counter("http_client_requests_total", "Requests of the HTTP client")},
      failures{meter.counter("http_client_failures_total",
                             "Requests of the HTTP client that have no whole response")},
      retries{meter.counter("http_client_retries_total",
                            "Requests sent again, since a kept connection had gone")},
      made{meter.counter("http_client_connections_total", "Connections the HTTP client has made")},
      reused{meter.counter("http_client_connections_reused_total",
                           "Requests that took a kept connection")},
      connections{meter.gauge("http_client_connections", "Connections of the HTTP client open")},
      durations{meter.histogram("http_client_request_ns",
                                "Time from a request to the end of its response, in nanoseconds")} {
}

}  // namespace weft::http
