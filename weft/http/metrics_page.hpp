// What a program counts, as a page that Prometheus reads.
//
// Contract: a service that answers GET at `path` with a snapshot of all shards, in the text format
// of weft/telemetry/prometheus.hpp. It tells everyone who may ask: serve it where only the
// monitoring comes. Reading waits for no shard; it costs the shard that is asked a look at every
// series. One shard.
//
//   app.add<http::server>();
//   app.add<http::metrics_page>();
#pragma once

#include <string>

#include <weft/http/server.hpp>
#include <weft/telemetry/registry.hpp>

namespace weft::http {

struct metrics_page_options {
  std::string path = "/metrics";
};

class metrics_page {
 public:
  using options = metrics_page_options;

  metrics_page(metrics_page_options options, server& http, telemetry::registry& metrics);
};

}  // namespace weft::http
