// What the shards of a program hold of its memory budget, as series.
//
//   telemetry::add_memory_series(into, budget, gauges_of(shards));
#pragma once

#include <span>

#include <weft/base/memory_budget.hpp>
#include <weft/loop/memory_share.hpp>
#include <weft/telemetry/snapshot.hpp>

namespace weft::telemetry {

/// `memory_limit_bytes` (0: none), `memory_taken_bytes`, `memory_in_use_bytes` by kind, and the
/// counters `memory_waits_total`, `memory_refused_total` and `memory_dropped_peers_total`, merged
/// over `shards`, in their order. Any thread.
void add_memory_series(snapshot& into, const memory_budget& budget,
                       std::span<const memory_gauges> shards);

}  // namespace weft::telemetry
