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
#include <cstdint>
#include <utility>

#include <weft/http/status.hpp>
#include <weft/telemetry/instruments.hpp>
#include <weft/telemetry/meter.hpp>

namespace weft::http {

/// What a client of HTTP/2 is cut for; `reason` of a counter.
enum class http2_offence : std::uint8_t {
  resets,       // streams ended before their replies were
  idle_frames,  // that carry neither a request nor content
  header_bomb,  // fields far beyond what is allowed, from few bytes
  slow_head,
  protocol,  // frames for streams that are no more
};

struct server_counts {
  explicit server_counts(telemetry::meter& meter);

  /// By the first digit of the status; what is none counts as an error of the server.
  void replied(status code) noexcept {
    replies[std::min<std::size_t>(std::to_underlying(code) / 100U - 1U, replies.size() - 1)].add();
  }

  void cut(http2_offence what) noexcept { http2_cut[std::to_underlying(what)].add(); }

  telemetry::gauge connections;
  telemetry::counter accepted;
  telemetry::counter turned_away;  // beyond limits::connections
  std::array<telemetry::counter, 5> replies;
  telemetry::counter received_bytes;
  telemetry::counter body_bytes;    // of replies
  telemetry::counter slow_readers;  // cut, or reset, since they took a reply too slowly
  telemetry::counter http2_connections;
  telemetry::counter http2_stalled;  // streams whose replies were not taken, or too slowly
  std::array<telemetry::counter, 5> http2_cut;  // by http2_offence
  telemetry::histogram waits;                   // of handlers that wait, nanoseconds
};

}  // namespace weft::http
