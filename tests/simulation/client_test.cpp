// The client and our server in as many worlds as a build may take.
#include <gtest/gtest.h>

#include <cstdint>

#include <weft/base/sanitizers.hpp>
#include <weft/testing/sim_world.hpp>

#include "client_scenario.hpp"
#include "simulation_fixture.hpp"

namespace weft::simulation {
namespace {

constexpr std::uint64_t client_seeds = WEFT_SANITIZED ? 200 : 2'000;

class client_simulation : public simulation_fixture {};

TEST_F(client_simulation, gives_each_request_its_own_answer_in_worlds_in_which_all_goes_wrong) {
  client_outcome all{};
  weft::testing::sim_world::for_seeds(client_seeds, [&](std::uint64_t seed) {
    try {
      const client_outcome seen = run_client_scenario(seed);
      all.requests += seen.requests;
      all.answers += seen.answers;
      all.reused += seen.reused;
      all.retries += seen.retries;
      all.given_up += seen.given_up;
    } catch (const weft::testing::sim_failure& why) {
      ADD_FAILURE() << "seed " << seed << ": " << why.what();
    }
  });
  std::printf(
      "requests %llu, answers %llu, reused connections %llu, retries %llu, failures %llu\n",
      static_cast<unsigned long long>(all.requests), static_cast<unsigned long long>(all.answers),
      static_cast<unsigned long long>(all.reused), static_cast<unsigned long long>(all.retries),
      static_cast<unsigned long long>(all.given_up));
  if (weft::testing::sim_world::seed_or(0) != 0) return;
  EXPECT_GE(all.answers, client_seeds * 60);
  EXPECT_GE(all.reused, client_seeds);
  EXPECT_GE(all.retries, client_seeds / 20);
  EXPECT_GE(all.given_up, client_seeds);
}

}  // namespace
}  // namespace weft::simulation
