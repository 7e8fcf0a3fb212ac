// The HTTP client is let loose on our server, and the network on both; in every other world they
// speak HTTP/2.
//
// Contract: run_client_scenario() makes a world from a seed, runs it and checks that
//   - each answer is the one to its request, byte for byte: no connection that a request has left
//     behind in any state is given to another;
//   - a POST is handled once at most, what is idempotent as often as the client's options allow;
//   - a request fails only if it was given up, a fault has struck, or the server ended meanwhile;
//   - the client stops whenever it is told to, with no connection left, and nothing else either.
// It throws weft::testing::sim_failure, which names the seed.
#pragma once

#include <cstdint>

#include <weft/loop/sim/sim_fault.hpp>

namespace weft::simulation {

struct client_outcome {
  std::uint64_t requests = 0;
  std::uint64_t answers = 0;
  std::uint64_t reused = 0;   // connections
  std::uint64_t retries = 0;  // of requests on another connection
  std::uint64_t given_up = 0;
  sim_fault_counts faults{};
};

[[nodiscard]] client_outcome run_client_scenario(std::uint64_t seed);

}  // namespace weft::simulation
