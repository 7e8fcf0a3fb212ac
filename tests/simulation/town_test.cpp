// Towns of services in as many worlds as a build may take, after those in which one once failed.
#include "town.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include <weft/base/format.hpp>
#include <weft/base/sanitizers.hpp>

#include "simulation_fixture.hpp"

namespace weft::simulation {
namespace {

constexpr std::uint64_t town_seeds = WEFT_SANITIZED ? 400 : 2'000;
/// What happens at least so often in all of them.
constexpr std::uint64_t happens_least = town_seeds / 4;

class towns : public simulation_fixture {};

std::optional<town_outcome> live_through(std::uint64_t seed) {
  try {
    return run_town(seed);
  } catch (const weft::testing::sim_failure& why) {
    ADD_FAILURE() << "seed " << seed << ": " << why.what();
    return std::nullopt;
  }
}

TEST_F(towns, stand_where_one_once_fell) {
  for (const std::string& line : lines_of("failed_seeds.txt"))
    live_through(std::strtoull(line.c_str(), nullptr, 0));
}

TEST_F(towns, stand_in_storms) {
  town_outcome all;
  const std::uint64_t only = weft::testing::sim_world::seed_or(0);
  for (std::uint64_t seed = only == 0 ? 1 : only; seed <= (only == 0 ? town_seeds : only); ++seed) {
    const auto seen = live_through(seed);
    ASSERT_TRUE(seen.has_value());
    all += *seen;
  }
  if (only != 0) return;
  for (const std::uint64_t count : {all.starts, all.failures, all.changes, all.refusals, all.news,
                                    all.lost, all.calls, all.waits})
    EXPECT_GE(count, happens_least);
  EXPECT_GE(all.faults[static_cast<std::size_t>(sim_fault::overlap)], happens_least);
  EXPECT_GE(all.faults[static_cast<std::size_t>(sim_fault::crash)], happens_least / 10);
}

// As simulation.does_the_same_everywhere.
TEST_F(towns, are_the_same_everywhere) {
  for (const std::string& line : lines_of("town_fingerprints.txt")) {
    char* end = nullptr;
    const std::uint64_t seed = std::strtoull(line.c_str(), &end, 10);
    const auto seen = live_through(seed);
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(weft::format("{} {:016x}", seed, seen->fingerprint), line);
  }
}

}  // namespace
}  // namespace weft::simulation
