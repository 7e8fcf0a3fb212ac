// What can go wrong in a simulated world, how often it does, and how often it did.
//
// Contract: plain values. A plan says how likely each kind is; draw() makes one from a seed, in
// which some kinds are left out and the others are rare or frequent by chance, so that each world
// has troubles of its own. The default plan is calm: nothing fails and nothing takes time.
//
//   const sim_plan plan = sim_plan::draw(dice);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/base/random.hpp>
#include <weft/base/time.hpp>

namespace weft {

enum class sim_fault : std::uint8_t {
  // Of single events and operations; the plan's number is a chance.
  latency,         // bytes take far longer than usual
  short_read,      // fewer bytes than have come, down to one
  short_write,     // fewer bytes than there is room for, down to one
  late_answer,     // what could be answered at once, or now, is answered later
  late_cancel,     // an operation hears only later that it is to end
  accept_failure,  // accepting fails though somebody stands in line
  late_wake,       // a shard that sleeps hears only later that another has something for it
  overlap,         // in the midst of a shard's turn another of its host has one
  datagram_loss,   // a datagram goes nowhere
  datagram_copy,   // it comes twice
  // Of the world; the plan's number is a weight.
  reset,          // a connection breaks
  stall,          // nothing passes one way of a connection for a while
  partition,      // nothing passes between two hosts for a while
  no_buffer,      // a shard has no receive buffers for a while
  no_descriptor,  // a host has no descriptors for a while
  pause,          // a host stands still for a while
  clock_step,     // a host's wall clock jumps
  crash,          // a host dies, and begins anew
  // What nobody plans, but counts.
  reordering,            // independent events have changed their places
  half_close,            // one way of a connection has ended, the other goes on
  answer_before_cancel,  // an operation that was to end has been answered first
  cancel_before_answer,
  datagram_reordering,  // one that was sent earlier comes later
};
inline constexpr std::size_t sim_fault_count = 23;
inline constexpr sim_fault first_world_fault = sim_fault::reset;
inline constexpr sim_fault first_counted_fault = sim_fault::reordering;

[[nodiscard]] std::string_view to_string(sim_fault kind) noexcept;

using sim_fault_counts = std::array<std::uint64_t, sim_fault_count>;

struct sim_plan {
  /// How long bytes are on their way; zero: no time at all.
  duration latency_min{};
  duration latency_max{};
  /// How long a turn of a loop may take.
  duration turn_max{};
  /// The longest time between two faults of the world.
  duration strike_gap{};
  /// Faults happen for so long.
  duration faults_last{};
  /// Ready tasks run in an order of chance, not first in, first out.
  bool shuffles = false;
  /// By kind: the chance of an event out of 65,536, or the weight.
  std::array<std::uint16_t, sim_fault_count> rates{};

  [[nodiscard]] static sim_plan draw(random& dice);
  [[nodiscard]] std::uint16_t rate(sim_fault kind) const noexcept {
    return rates[static_cast<std::size_t>(kind)];
  }
};

}  // namespace weft
