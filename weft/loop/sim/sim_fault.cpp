#include <weft/loop/sim/sim_fault.hpp>

#include <chrono>

namespace weft {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, sim_fault_count> names{"latency",
                                                              "short read",
                                                              "short write",
                                                              "late answer",
                                                              "late cancel",
                                                              "accept failure",
                                                              "late wake",
                                                              "overlap",
                                                              "datagram loss",
                                                              "datagram copy",
                                                              "reset",
                                                              "stall",
                                                              "partition",
                                                              "no buffer",
                                                              "no descriptor",
                                                              "pause",
                                                              "clock step",
                                                              "crash",
                                                              "reordering",
                                                              "half-close",
                                                              "answer before cancel",
                                                              "cancel before answer",
                                                              "datagram reordering"};

/// Rare in most worlds, frequent in some.
std::uint16_t draw_rate(random& dice, sim_fault kind) {
  if (kind >= first_world_fault) return dice.between<std::uint16_t>(1, 8);
  const unsigned most = 1U << dice.between(8U, kind == sim_fault::accept_failure ? 14U : 15U);
  return static_cast<std::uint16_t>(dice.between(most / 2, most));
}

}  // namespace

std::string_view to_string(sim_fault kind) noexcept {
  return names[static_cast<std::size_t>(kind)];
}

sim_plan sim_plan::draw(random& dice) {
  sim_plan plan;
  plan.latency_min = duration{dice.between<duration::rep>(1'000, 200'000)};
  plan.latency_max = plan.latency_min + duration{dice.between<duration::rep>(0, 5'000'000)};
  plan.turn_max = duration{dice.between<duration::rep>(0, 50'000)};
  plan.strike_gap = duration{dice.between<duration::rep>(5'000'000, 80'000'000)};
  plan.faults_last = duration{dice.between<duration::rep>(100'000'000, 2'000'000'000)};
  for (std::size_t i = 0; i < static_cast<std::size_t>(first_counted_fault); ++i) {
    const auto kind = static_cast<sim_fault>(i);
    // What breaks connections is the rarer thing, lest there be no world where none does.
    const bool breaks = kind >= first_world_fault;
    if (dice.chance(breaks ? 1 : 2, 4)) plan.rates[i] = draw_rate(dice, kind);
  }
  plan.shuffles = dice.chance(1, 2);
  return plan;
}

}  // namespace weft
