#include <weft/telemetry/memory_series.hpp>

#include <cstddef>
#include <string>

namespace weft::telemetry {
namespace {

series& add(snapshot& into, const char* name, const char* help, series_kind kind) {
  series& added = into.all.emplace_back();
  added.name = name;
  added.help = help;
  added.kind = kind;
  return added;
}

template <class Number>
void add_by_shard(series& to, std::span<const memory_gauges> shards, Number number) {
  for (const memory_gauges& shard : shards) {
    to.by_shard.push_back(static_cast<std::int64_t>(number(shard)));
    to.value += to.by_shard.back();
  }
}

void add_count(snapshot& into, std::span<const memory_gauges> shards, const char* name,
               const char* help, std::uint64_t memory_gauges::* number) {
  add_by_shard(add(into, name, help, series_kind::counter), shards,
               [number](const memory_gauges& of) { return of.*number; });
}

}  // namespace

void add_memory_series(snapshot& into, const memory_budget& budget,
                       std::span<const memory_gauges> shards) {
  const bool is_limited = budget.limit() != memory_budget::unlimited;
  add(into, "memory_limit_bytes", "Memory that may be held for clients; 0: no limit",
      series_kind::gauge)
      .value = is_limited ? static_cast<std::int64_t>(budget.limit()) : 0;
  add(into, "memory_taken_bytes", "Of that: taken by the shards, in slices of 256 KiB",
      series_kind::gauge)
      .value = static_cast<std::int64_t>(budget.taken());
  for (std::size_t i = 0; i < memory_kinds; ++i) {
    series& added =
        add(into, "memory_in_use_bytes", "Memory held for clients, by kind", series_kind::gauge);
    added.labels.emplace_back("kind", to_string(static_cast<memory_kind>(i)));
    add_by_shard(added, shards, [i](const memory_gauges& of) { return of.bytes[i]; });
  }
  add_count(into, shards, "memory_waits_total", "Reservations of memory that had to wait",
            &memory_gauges::waits);
  add_count(into, shards, "memory_refused_total", "Reservations of memory that were refused",
            &memory_gauges::refused);
  add_count(into, shards, "memory_dropped_peers_total",
            "Connections dropped since they took nothing of what was held for them",
            &memory_gauges::dropped_peers);
}

}  // namespace weft::telemetry
