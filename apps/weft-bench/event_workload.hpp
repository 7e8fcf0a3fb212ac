// Ichor's two benchmarks of its event queue, as weft does the same work.
//
// Contract: each runs on a thread that has no loop, makes its own, and does the whole count.
//   event       a coroutine publishes `count` events without data, of a type that nobody has
//               registered a handler for, and last one that is heard: it must be told last. With a
//               capacity the coroutine waits for room; else all are in the queue at once.
//   coroutine   `count` times: a root coroutine gives the loop a function to run, which is a
//               coroutine made for this, and waits; that one sets what the root waits for, and
//               ends. Ichor's event for it is a function as well, which no handler hears of.
#pragma once

#include "workload.hpp"

namespace weft::bench {

workload_share run_events(const workload_options& options);
workload_share run_coroutines(const workload_options& options);

}  // namespace weft::bench
