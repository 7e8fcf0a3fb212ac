// A snapshot as Prometheus reads it: the text exposition format, version 0.0.4.
//
// Contract: HELP and TYPE once a name, then its series; label values and help texts are escaped, so
// that no text can end its line. Histograms come as cumulative buckets whose bounds are the powers
// of two from 2^8 to 2^36 less one (255 ns to 69 s, where the unit is the nanosecond): those fall
// on the ends of ours, so that the counts are exact, and they are the same at every scrape.
// Appends; reads nothing but the snapshot. Content type: prometheus_content_type.
//
//   std::string page;
//   telemetry::append_prometheus(metrics.read(), page);
#pragma once

#include <string>
#include <string_view>

#include <weft/telemetry/snapshot.hpp>

namespace weft::telemetry {

inline constexpr std::string_view prometheus_content_type =
    "text/plain; version=0.0.4; charset=utf-8";

void append_prometheus(const snapshot& from, std::string& out);

}  // namespace weft::telemetry
