// A memory budget that two hosts' shards share, and clients who want more of it than there is.
//
// Contract: run_memory_scenario() makes a world from a seed, runs it and checks that
//   - what is reserved at once never goes beyond the ceiling of its priority;
//   - a wait ends with its memory, at its deadline or since it is called off, whichever way round
//     these come, and then holds nothing;
//   - a reader is dropped at most once;
//   - all is given back in the end.
// It throws weft::testing::sim_failure, which names the seed.
#pragma once

#include <cstdint>

namespace weft::simulation {

struct memory_outcome {
  std::uint64_t fingerprint = 0;
  std::uint64_t reserved = 0;
  std::uint64_t waited = 0;  // before they were
  std::uint64_t timed_out = 0;
  std::uint64_t called_off = 0;
  std::uint64_t given_before_call = 0;  // though they were called off
  std::uint64_t dropped = 0;            // readers

  memory_outcome& operator+=(const memory_outcome& more) noexcept;
};

[[nodiscard]] memory_outcome run_memory_scenario(std::uint64_t seed);

}  // namespace weft::simulation
