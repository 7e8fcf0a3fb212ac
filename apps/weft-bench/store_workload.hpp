// Rows of an embedded database, looked up by their key: what weft::store takes for itself.
//
//   weft-bench store --batch 10 --key int --json
#pragma once

#include "workload.hpp"

namespace weft::bench {

/// Each thread has a database of its own in a temporary folder, of 100,000 rows, which fit in its
/// cache.
workload_share run_look_ups(const workload_options& options);

}  // namespace weft::bench
