// What an engine counts, for whoever reads the program's registry.
//
// Contract: one belongs to each engine, on its shard; one that is made anew counts on. A look-up
// costs two additions. docs/store.md has the names. Nothing allocates after construction.
//
//   counts.rows_read.add();  // store_rows_read_total
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include <weft/store/failure.hpp>
#include <weft/telemetry/instruments.hpp>
#include <weft/telemetry/meter.hpp>

namespace weft::store::sqlite {

struct engine_counts {
  explicit engine_counts(telemetry::meter& meter);

  void failed(failure_kind why) noexcept { failures[std::to_underlying(why)].add(); }

  telemetry::counter warm_reads;  // operations read on the shard
  telemetry::counter cold_reads;  // and on other threads
  telemetry::counter rows_read;   // those of both that found a row
  telemetry::histogram cold_waits;
  telemetry::counter transactions;  // turns that have read
  telemetry::counter statements_prepared;
  telemetry::counter scan_slices;
  telemetry::counter scan_rows;
  telemetry::counter queries;
  telemetry::counter query_rows;
  telemetry::histogram query_times;
  telemetry::counter query_processes;         // started
  telemetry::counter query_processes_killed;  // within a query
  telemetry::counter writes;                  // operations done, and durable
  /// Counted by the shard whose batch was the first in it.
  telemetry::counter commits;
  telemetry::gauge batches_waiting;
  telemetry::histogram write_waits;
  telemetry::counter looks;     // at the schema, since a request named what it did not have
  telemetry::counter catalogs;  // how often the schema was taken over
  telemetry::gauge refused;     // databases that should be served, and cannot be
  std::array<telemetry::counter, failure_kinds> failures;
};

}  // namespace weft::store::sqlite
