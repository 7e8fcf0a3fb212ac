// The bytes that a load sends.
//
//   plan.requests = make_requests(options);
#pragma once

#include <string>
#include <vector>

#include "load.hpp"
#include "options.hpp"

namespace weft::bench {

// What is sent, in turn; at least one.
std::vector<load_request> make_requests(const load_options& options);

// The handshake that opens a WebSocket (RFC 6455 section 4.1), without its key.
std::string make_opening(const load_options& options);

}  // namespace weft::bench
