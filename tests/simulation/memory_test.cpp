// A memory budget in as many worlds as a build may take.
#include <gtest/gtest.h>

#include <cstdint>

#include <weft/base/sanitizers.hpp>
#include <weft/testing/sim_world.hpp>

#include "memory_scenario.hpp"
#include "simulation_fixture.hpp"

namespace weft::simulation {
namespace {

constexpr std::uint64_t memory_seeds = WEFT_SANITIZED ? 200 : 2'000;

class memory_simulation : public simulation_fixture {};

TEST_F(memory_simulation, gives_what_there_is_and_has_all_of_it_again) {
  memory_outcome all{};
  weft::testing::sim_world::for_seeds(memory_seeds, [&](std::uint64_t seed) {
    try {
      all += run_memory_scenario(seed);
    } catch (const weft::testing::sim_failure& why) {
      ADD_FAILURE() << "seed " << seed << ": " << why.what();
    }
  });
  if (weft::testing::sim_world::seed_or(0) != 0) return;
  EXPECT_GE(all.reserved, memory_seeds * 20);
  EXPECT_GE(all.waited, memory_seeds);
  EXPECT_GE(all.timed_out, memory_seeds);
  EXPECT_GE(all.called_off, memory_seeds / 2);
  EXPECT_GE(all.dropped, memory_seeds / 10);
  EXPECT_GE(all.given_before_call, 1U);
}

TEST_F(memory_simulation, does_the_same_twice) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    EXPECT_EQ(run_memory_scenario(seed).fingerprint, run_memory_scenario(seed).fingerprint);
}

}  // namespace
}  // namespace weft::simulation
