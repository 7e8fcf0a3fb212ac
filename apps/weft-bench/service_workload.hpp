// Ichor's two benchmarks of its services, as weft does the same work.
//
// Contract: each runs on a thread that has no loop, makes its own, and does the whole count.
//   start       a container of so many services, each with a logger of its own, is made, started,
//               stopped and ended, `count` times.
//   start-stop  one service needs another; both have loggers, which stay. `count` times the other
//               is stopped, which stops the one first, and started, which starts the one after it:
//               both are made, started, stopped and ended anew each time.
#pragma once

#include "workload.hpp"

namespace weft::bench {

workload_share run_starts(const workload_options& options);
workload_share run_start_stops(const workload_options& options);

}  // namespace weft::bench
