#include <weft/store/sqlite/engine_counts.hpp>

#include <cstddef>
#include <string_view>

namespace weft::store::sqlite {
namespace {

telemetry::counter reads_by(telemetry::meter& meter, std::string_view whom) {
  return meter.counter("store_reads_total",
                       "Look-ups by key: by the shard from memory, or by a thread that may wait",
                       {{"by", whom}});
}

template <std::size_t... Kind>
std::array<telemetry::counter, failure_kinds> failures_in(telemetry::meter& meter,
                                                          std::index_sequence<Kind...>) {
  return {meter.counter("store_failures_total", "What was not done, by why",
                        {{"kind", to_string(failure_kind{Kind})}})...};
}

}  // namespace

engine_counts::engine_counts(telemetry::meter& meter)
    : warm_reads{reads_by(meter, "shard")},
      cold_reads{reads_by(meter, "thread")},
      rows_read{meter.counter("store_rows_read_total", "Look-ups by key that found a row")},
      cold_waits{meter.histogram("store_read_wait_ns",
                                 "Time that look-ups by threads that may wait took, by batches")},
      transactions{meter.counter("store_read_transactions_total",
                                 "Turns of loops that have read, each in one transaction")},
      statements_prepared{meter.counter("store_statements_prepared_total",
                                        "Look-ups whose statement was not kept ready")},
      scan_slices{meter.counter("store_scan_slices_total", "Parts of scans, each a transaction")},
      scan_rows{meter.counter("store_scan_rows_total", "Rows found by scans")},
      queries{meter.counter("store_queries_total", "Queries in SQL that were begun")},
      query_rows{meter.counter("store_query_rows_total", "Rows found by queries in SQL")},
      query_times{meter.histogram("store_query_duration_ns",
                                  "How long queries in SQL took, in nanoseconds")},
      query_processes{meter.counter("store_query_processes_started_total",
                                    "Processes started to run queries in SQL")},
      query_processes_killed{meter.counter("store_query_processes_killed_total",
                                           "Processes that were killed while they ran a query")},
      writes{meter.counter("store_writes_total", "Rows written, durably")},
      commits{meter.counter("store_commits_total", "Commits that rows were written in")},
      batches_waiting{meter.gauge("store_write_batches_waiting",
                                  "Batches of writes that wait until they are durable")},
      write_waits{meter.histogram("store_write_wait_ns", "Time until a batch was durable")},
      looks{meter.counter("store_schema_looks_total",
                          "Looks at the schema, since requests named what it did not have")},
      catalogs{meter.counter("store_schema_changes_total", "Schemas taken over by shards")},
      refused{meter.gauge("store_databases_refused",
                          "Databases that should be served and cannot be: the log says why")},
      failures{failures_in(meter, std::make_index_sequence<failure_kinds>{})} {}

}  // namespace weft::store::sqlite
