// What an urgent event costs while many of low priority are queued.
//
// Contract: as the workloads' (workload.hpp). `count` times an event of high priority is published
// and told, the next one when the one before is; `queued` events of low priority wait all the while
// and are told at the end. Times are from before an event is published until its handler runs.
#pragma once

#include "workload.hpp"

namespace weft::bench {

workload_share run_dispatches(const workload_options& options);

}  // namespace weft::bench
