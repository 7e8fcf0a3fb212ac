// WebSockets in as many worlds as a build may take.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>

#include <weft/base/sanitizers.hpp>
#include <weft/testing/sim_world.hpp>

#include "simulation_fixture.hpp"
#include "socket_scenario.hpp"

namespace weft::simulation {
namespace {

constexpr std::uint64_t socket_seeds = WEFT_SANITIZED ? 40 : 400;

class socket_simulation : public simulation_fixture {};

TEST_F(socket_simulation, loses_and_mixes_up_nothing_in_worlds_in_which_all_goes_wrong) {
  socket_outcome all{};
  weft::testing::sim_world::for_seeds(socket_seeds, [&](std::uint64_t seed) {
    try {
      const socket_outcome seen = run_socket_scenario(seed);
      all.sockets += seen.sockets;
      all.messages += seen.messages;
      all.given_up += seen.given_up;
      all.broken += seen.broken;
      all.streams += seen.streams;
    } catch (const weft::testing::sim_failure& why) {
      ADD_FAILURE() << "seed " << seed << ": " << why.what();
    }
  });
  std::printf(
      "WebSockets %llu, messages %llu, given up %llu, broken %llu, over HTTP/2 %llu\n",
      static_cast<unsigned long long>(all.sockets), static_cast<unsigned long long>(all.messages),
      static_cast<unsigned long long>(all.given_up), static_cast<unsigned long long>(all.broken),
      static_cast<unsigned long long>(all.streams));
  if (weft::testing::sim_world::seed_or(0) != 0) return;
  EXPECT_GE(all.sockets, socket_seeds * 30);
  EXPECT_GE(all.messages, all.sockets);
  EXPECT_GE(all.given_up, socket_seeds);
  EXPECT_GE(all.broken, socket_seeds / 10);
  EXPECT_GE(all.streams, socket_seeds * 2);
}

}  // namespace
}  // namespace weft::simulation
