// The bytes that a load sends.
//
//   plan.requests = make_requests(options);
#pragma once

#include <vector>

#include "load.hpp"
#include "options.hpp"

namespace weft::bench {

// What is sent, in turn; at least one.
std::vector<load_request> make_requests(const load_options& options);

}  // namespace weft::bench
