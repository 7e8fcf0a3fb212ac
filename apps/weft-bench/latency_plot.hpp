// Latencies as pictures, in SVG that stands in a page by itself.
//
//   page += percentile_plot(result.latency);
//   page += rate_plot(found.probes, std::chrono::milliseconds{5});
#pragma once

#include <chrono>
#include <span>
#include <string>

#include <weft/telemetry/distribution.hpp>

#include "rate_search.hpp"

namespace weft::bench {

// Latency over percentiles, each nine of which has as much room as the one before, up to where one
// value is left: beyond that nothing is known. Empty where nothing was recorded.
std::string percentile_plot(const telemetry::distribution& latency);

// The 99th percentile over the rate of each probe, and the line that it was to stay below. Empty
// where there is none.
std::string rate_plot(std::span<const rate_probe> probes, std::chrono::nanoseconds p99_most);

}  // namespace weft::bench
