// Replies that are taken at different rates, in as many worlds as a build may take.
// WEFT_RATE_SEEDS=2000 tries more of them.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <weft/base/format.hpp>
#include <weft/base/sanitizers.hpp>
#include <weft/testing/sim_world.hpp>

#include "reply_rate_scenario.hpp"
#include "simulation_fixture.hpp"
#include "take_log.hpp"

namespace weft::simulation {
namespace {

using namespace std::chrono_literals;

std::uint64_t seeds_to_try() {
  const char* const told = std::getenv("WEFT_RATE_SEEDS");
  return told != nullptr ? std::strtoull(told, nullptr, 10) : WEFT_SANITIZED ? 20 : 200;
}

TEST(take_log, knows_the_spans_with_the_fewest_and_the_most_bytes) {
  const time_point start{1h};
  take_log log;
  EXPECT_EQ(log.fewest(start, start + 10s, 4s), 0U);
  EXPECT_EQ(log.most(start, start + 10s, 4s), 0U);
  log.note(start + 1s, 10);
  log.note(start + 3s, 20);
  log.note(start + 8s, 5);
  EXPECT_EQ(log.total(), 35U);
  EXPECT_EQ(log.fewest(start, start + 10s, 4s), 0U) << "from the third second on";
  EXPECT_EQ(log.fewest(start, start + 10s, 6s), 5U);
  EXPECT_EQ(log.most(start, start + 10s, 1s), 20U);
  EXPECT_EQ(log.most(start, start + 10s, 2s), 30U) << "with both edges";
  EXPECT_EQ(log.most(start + 2s, start + 10s, 5s), 25U);
  EXPECT_EQ(log.fewest(start, start + 3s, 4s), SIZE_MAX) << "no span fits";
}

class reply_rate_simulation : public simulation_fixture {};

TEST_F(reply_rate_simulation, drops_clients_that_are_too_slow_and_no_others) {
  const std::uint64_t rate_seeds = seeds_to_try();
  reply_rate_outcome all{};
  weft::testing::sim_world::for_seeds(rate_seeds, [&](std::uint64_t seed) {
    try {
      all += run_reply_rate_scenario(seed);
    } catch (const weft::testing::sim_failure& why) {
      ADD_FAILURE() << "seed " << seed << ": " << why.what();
    }
  });
  std::puts(weft::format("{} replies whole, {} clients dropped, {} connections broken, {} left "
                         "({} dropped before, {} not), {} reads called off",
                         all.replies, all.dropped, all.broken, all.left, all.dropped_first,
                         all.left_first, all.called_off)
                .c_str());
  if (weft::testing::sim_world::seed_or(0) != 0) return;
  EXPECT_GE(all.replies, rate_seeds * 4);
  EXPECT_GE(all.dropped, rate_seeds);
  EXPECT_GE(all.left, rate_seeds);
  EXPECT_GE(all.called_off, rate_seeds * 10);
  EXPECT_GE(all.dropped_first, 1U);
  EXPECT_GE(all.left_first, 1U);
}

TEST_F(reply_rate_simulation, does_the_same_twice) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    EXPECT_EQ(run_reply_rate_scenario(seed).fingerprint, run_reply_rate_scenario(seed).fingerprint);
}

}  // namespace
}  // namespace weft::simulation
