// WebSockets of our client and our server, and the network let loose on both.
//
// Contract: run_socket_scenario() makes a world from a seed, runs it and checks that
//   - what comes back is what was sent, message by message, in order and byte for byte: a send that
//     was given up has queued nothing, a read that was given up has lost nothing;
//   - a WebSocket ends in another way than its two ends want only if a fault has struck, or the
//     server ended meanwhile;
//   - nothing is left of any of them, at either end, however it ended; of those over HTTP/2
//     neither, which a client that wants no good leaves as it likes.
// It throws weft::testing::sim_failure, which names the seed.
#pragma once

#include <cstdint>

#include <weft/loop/sim/sim_fault.hpp>

namespace weft::simulation {

struct socket_outcome {
  std::uint64_t sockets = 0;
  std::uint64_t messages = 0;  // that came back
  std::uint64_t given_up = 0;  // sends and reads
  std::uint64_t broken = 0;
  std::uint64_t streams = 0;  // of HTTP/2, that were WebSockets
  sim_fault_counts faults{};
};

[[nodiscard]] socket_outcome run_socket_scenario(std::uint64_t seed);

}  // namespace weft::simulation
