// Ichor's benchmark of its serializer, as weft does the same work.
//
// Contract: `count` times: a struct of a number and a string is written as JSON, read back into a
// new one, and both members are compared.
#pragma once

#include "workload.hpp"

namespace weft::bench {

workload_share run_serializer(const workload_options& options);

}  // namespace weft::bench
