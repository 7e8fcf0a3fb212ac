// What a server counts, for whoever reads the program's registry.
//
// Contract: internal to http. One belongs to each server, on its shard; one that is made anew
// counts on. An answer costs two additions and no clock: how long handlers take is measured of
// those that wait, the others are done within a turn of the loop. Nothing allocates after
// construction.
//
//   counts.replied(status::ok);  // http_replies_total{class="2xx"}
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <weft/http/status.hpp>
#include <weft/telemetry/instruments.hpp>
#include <weft/telemetry/meter.hpp>

namespace weft::http {

struct server_counts {
  explicit server_counts(telemetry::meter& meter);

  /// By the first digit of the status; what is none counts as an error of the server.
  void replied(status code) noexcept {
    replies[std::min<std::size_t>(std::to_underlying(code) / 100U - 1U, replies.size() - 1)].add();
  }

  telemetry::gauge connections;
  telemetry::counter accepted;
  telemetry::counter turned_away;  // beyond limits::connections
  std::array<telemetry::counter, 5> replies;
  telemetry::counter received_bytes;
  telemetry::counter body_bytes;  // of replies
  telemetry::histogram waits;     // of handlers that wait, nanoseconds
};

}  // namespace weft::http
