// What a client counts, for whoever reads the program's registry.
//
// Contract: internal to http. One belongs to each client, on its shard; one that is made anew
// counts on. Nothing allocates after construction.
//
//   counts.requests.add();  // http_client_requests_total
#pragma once

#include <weft/telemetry/instruments.hpp>
#include <weft/telemetry/meter.hpp>

namespace weft::http {

struct client_counts {
  explicit client_counts(telemetry::meter& meter);

  telemetry::counter requests;
  telemetry::counter failures;     // without a whole response
  telemetry::counter retries;      // on another connection, since the first had gone
  telemetry::counter made;         // connections, for a request
  telemetry::counter reused;       // connections, by a request
  telemetry::gauge connections;    // open
  telemetry::histogram durations;  // of requests with a whole response, nanoseconds
};

}  // namespace weft::http
