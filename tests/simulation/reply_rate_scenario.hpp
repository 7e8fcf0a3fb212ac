// Clients that take large replies at different rates, and a server that drops those that take them
// too slowly.
//
// Contract: run_reply_rate_scenario() makes a world from a seed, runs it and checks that
//   - a client that took limits::reply_bytes_per_second over every limits::write_stall_timeout
//     keeps its connection;
//   - a client that took less over all of them is dropped within twice that time, while more of its
//     reply is left than the kernel and the stream's queue hold;
//   - what has come until then is the beginning of the reply, and nothing follows it;
//   - the end of a reply is reported once: to its handler, to its client and to the metrics;
//   - no memory of a reply is kept once its connection is gone.
// It throws weft::testing::sim_failure, which names the seed.
#pragma once

#include <cstdint>

#include <weft/loop/sim/sim_fault.hpp>

namespace weft::simulation {

struct reply_rate_outcome {
  std::uint64_t fingerprint = 0;
  std::uint64_t replies = 0;  // that came whole
  std::uint64_t dropped = 0;  // clients that were too slow
  std::uint64_t broken = 0;   // connections that ended for another reason
  std::uint64_t left = 0;     // clients that closed their connection within a reply
  // Of those that left a streamed reply: which of the two its handler was given as the reason.
  std::uint64_t dropped_first = 0;
  std::uint64_t left_first = 0;
  std::uint64_t called_off = 0;  // reads
  sim_fault_counts faults{};

  reply_rate_outcome& operator+=(const reply_rate_outcome& more) noexcept;
};

[[nodiscard]] reply_rate_outcome run_reply_rate_scenario(std::uint64_t seed);

}  // namespace weft::simulation
