// What the loops of a program count, as series.
//
//   auto loops = metrics.add_source([&shards](telemetry::snapshot& into) {
//     telemetry::add_loop_series(into, gauges_of(shards));
//   });
#pragma once

#include <span>

#include <weft/loop/loop_gauges.hpp>
#include <weft/telemetry/snapshot.hpp>

namespace weft::telemetry {

/// One series a gauge of loop_gauges: `loop_turns_total`, `loop_live_frames` and so on, merged over
/// `shards`, in their order. Any thread.
void add_loop_series(snapshot& into, std::span<const loop_gauges> shards);

}  // namespace weft::telemetry
