// Who opens WebSockets over HTTP/2 (RFC 8441) and leaves them in every way there is: in good order,
// by a reset, within a frame, with the connection.
//
// Contract: leave_sockets_of_http2() goes on until it has opened `most` or is asked to stop; what
// came of it shows in what the server has left. On the shard of its loop.
#pragma once

#include <cstdint>

#include <weft/base/random.hpp>
#include <weft/coro/task.hpp>
#include <weft/loop/event_loop.hpp>
#include <weft/net/endpoint.hpp>

namespace weft::simulation {

/// Counts into `opened`.
task<void> leave_sockets_of_http2(event_loop& loop, random& dice, net::endpoint server,
                                  std::uint64_t most, std::uint64_t& opened);

}  // namespace weft::simulation
