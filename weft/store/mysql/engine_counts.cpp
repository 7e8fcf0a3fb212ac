#include <weft/store/mysql/engine_counts.hpp>

#include <cstddef>

namespace weft::store::mysql {
namespace {

template <std::size_t... Kind>
std::array<telemetry::counter, failure_kinds> count_failures(telemetry::meter& meter,
                                                             std::index_sequence<Kind...>) {
  return {meter.counter("store_failures_total", "What was not done, by why",
                        {{"kind", to_string(failure_kind{Kind})}})...};
}

}  // namespace

engine_counts::engine_counts(telemetry::meter& meter)
    : reads{meter.counter("store_reads_total", "Look-ups by key: by the server",
                          {{"by", "server"}})},
      rows_read{meter.counter("store_rows_read_total", "Look-ups by key that found a row")},
      read_waits{meter.histogram("store_read_wait_ns", "How long batches of look-ups took")},
      reads_retried{meter.counter("store_reads_retried_total",
                                  "Batches of look-ups that were made anew: their "
                                  "connection was lost, or a replica could not answer")},
      round_trips{
          meter.counter("store_round_trips_total", "Calls that have waited for the server")},
      scan_slices{meter.counter("store_scan_slices_total", "Parts of scans, each a statement")},
      scan_rows{meter.counter("store_scan_rows_total", "Rows found by scans")},
      queries{meter.counter("store_queries_total", "Queries in SQL that were begun")},
      query_rows{meter.counter("store_query_rows_total", "Rows found by queries in SQL")},
      query_times{meter.histogram("store_query_duration_ns",
                                  "How long queries in SQL took, in nanoseconds")},
      queries_killed{meter.counter("store_queries_killed_total",
                                   "Queries in SQL that were ended on the server, since nobody "
                                   "waited for them any more")},
      queries_left{
          meter.gauge("store_queries_left_running",
                      "Queries in SQL that were killed on the server, and still run there")},
      queries_given_up{
          meter.counter("store_queries_given_up_total",
                        "Queries in SQL that were killed, and whose server did not answer for long "
                        "whether they still run")},
      writes{meter.counter("store_writes_total", "Rows written, durably")},
      commits{meter.counter("store_commits_total", "Commits that rows were written in")},
      writes_retried{meter.counter("store_writes_retried_total",
                                   "Batches of writes that were made anew, since their connection "
                                   "was lost before they were committed")},
      batches_waiting{meter.gauge("store_write_batches_waiting",
                                  "Batches of writes that wait until they are durable")},
      write_waits{meter.histogram("store_write_wait_ns", "Time until a batch was durable")},
      looks{meter.counter("store_schema_looks_total",
                          "Looks at the schema, since requests named what it did not have")},
      catalogs{meter.counter("store_schema_changes_total", "Schemas taken over by shards")},
      reachable{meter.gauge("store_servers_reachable",
                            "Servers that were there when they were asked last, over all shards")},
      failures{count_failures(meter, std::make_index_sequence<failure_kinds>{})} {}

}  // namespace weft::store::mysql
