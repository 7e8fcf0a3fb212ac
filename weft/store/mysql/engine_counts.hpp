// What an engine counts, for whoever reads the program's registry.
//
// Contract: one belongs to each engine, on its shard; one that is made anew counts on.
// docs/store.md has the names. Nothing allocates after construction.
//
//   counts.rows_read.add();  // store_rows_read_total
#pragma once

#include <array>
#include <utility>

#include <weft/store/failure.hpp>
#include <weft/telemetry/instruments.hpp>
#include <weft/telemetry/meter.hpp>

namespace weft::store::mysql {

struct engine_counts {
  explicit engine_counts(telemetry::meter& meter);

  void failed(failure_kind why) noexcept { failures[std::to_underlying(why)].add(); }

  telemetry::counter reads;
  telemetry::counter rows_read;
  telemetry::histogram read_waits;   // of batches
  telemetry::counter reads_retried;  // batches
  telemetry::counter round_trips;
  telemetry::counter scan_slices;
  telemetry::counter scan_rows;
  telemetry::counter queries;
  telemetry::counter query_rows;
  telemetry::histogram query_times;
  telemetry::counter queries_killed;    // on the server
  telemetry::gauge queries_left;        // that the server has not ended yet
  telemetry::counter queries_given_up;  // whose server did not answer for long
  telemetry::counter writes;            // operations done, and committed
  telemetry::counter commits;
  telemetry::counter writes_retried;  // batches
  telemetry::gauge batches_waiting;
  telemetry::histogram write_waits;
  telemetry::counter looks;     // at the schema, since a request named what it did not have
  telemetry::counter catalogs;  // how often the schema was taken over
  telemetry::gauge reachable;   // 1 where the server was, when it was asked last
  std::array<telemetry::counter, failure_kinds> failures;
};

}  // namespace weft::store::mysql
