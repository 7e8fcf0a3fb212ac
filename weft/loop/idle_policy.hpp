// What a loop does when it has nothing to run: it sleeps in the kernel, or polls for a while first.
//
// Problem: to sleep costs nothing but the time to be woken, which on a quiet machine is most of a
// round trip. A loop that polls sees the next request at once, and keeps its processor busy for it.
// Contract: plain values. Each piece of work (a task resumed, a timer fired, a letter read) renews
// the spell of polling; a poll that finds nothing does not. Backends that have no kernel to ask
// (simulated) always sleep.
//
//   const auto idle = parse_idle("spin=50us");
//   if (!idle) log::error(idle.error());  // names the value and what is allowed
//   auto loop = event_loop::create({.idle = *idle});
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <weft/base/time.hpp>

namespace weft {

struct idle_policy {
  /// How long to poll after the last piece of work before sleeping. Zero: not at all.
  duration spin_for{};

  [[nodiscard]] static constexpr idle_policy sleep() noexcept { return {}; }
  /// Never sleeps while there is something to wait for.
  [[nodiscard]] static constexpr idle_policy spin() noexcept { return {duration::max()}; }

  [[nodiscard]] constexpr bool spins() const noexcept { return spin_for > duration::zero(); }
  bool operator==(const idle_policy&) const = default;
};

/// "sleep", "spin" or "spin=50us", in ns, us or ms and at most a second. The error says what is
/// wrong with `text`.
[[nodiscard]] std::expected<idle_policy, std::string> parse_idle(std::string_view text);

}  // namespace weft
