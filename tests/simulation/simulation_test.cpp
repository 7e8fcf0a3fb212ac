// The scenario in as many worlds as a build may take, after those in which it once failed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include <weft/base/format.hpp>
#include <weft/base/sanitizers.hpp>

#include "scenario.hpp"
#include "simulation_fixture.hpp"

namespace weft::simulation {
namespace {

constexpr std::uint64_t seeds = WEFT_SANITIZED ? 200 : 2'000;
constexpr std::uint64_t strikes_least = seeds / 20;

class simulation : public simulation_fixture {};

std::optional<outcome> run(std::uint64_t seed) {
  try {
    return run_scenario(seed);
  } catch (const weft::testing::sim_failure& why) {
    ADD_FAILURE() << "seed " << seed << ": " << why.what();
    return std::nullopt;
  }
}

TEST_F(simulation, passes_where_it_once_failed) {
  for (const std::string& line : lines_of("failed_seeds.txt"))
    run(std::strtoull(line.c_str(), nullptr, 0));
}

TEST_F(simulation, passes_in_worlds_in_which_everything_goes_wrong) {
  sim_fault_counts faults{};
  const std::uint64_t only = weft::testing::sim_world::seed_or(0);
  for (std::uint64_t seed = only == 0 ? 1 : only; seed <= (only == 0 ? seeds : only); ++seed) {
    const auto seen = run(seed);
    ASSERT_TRUE(seen.has_value());
    EXPECT_GE(seen->connections, connections_least) << "seed " << seed;
    EXPECT_GE(seen->requests, requests_least) << "seed " << seed;
    std::ranges::transform(faults, seen->faults, faults.begin(), std::plus{});
  }
  if (only != 0) return;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const std::string kind{to_string(static_cast<sim_fault>(i))};
    EXPECT_GE(faults[i], strikes_least) << kind;
    std::puts(weft::format("{:22} {:9}", kind, faults[i]).c_str());
  }
}

// What is recorded holds for every compiler, library and optimisation level. A change of what the
// simulator draws, or of what the product does, changes it: tools/sim --record writes it anew.
TEST_F(simulation, does_the_same_everywhere) {
  for (const std::string& line : lines_of("fingerprints.txt")) {
    char* end = nullptr;
    const std::uint64_t seed = std::strtoull(line.c_str(), &end, 10);
    const auto seen = run(seed);
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(weft::format("{} {:016x}", seed, seen->fingerprint), line);
  }
}

}  // namespace
}  // namespace weft::simulation
