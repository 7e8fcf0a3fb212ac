// Whether a loop runs its ready tasks in an order of chance, and what decides it.
//
// Problem: what is ready runs first in, first out, so that two tasks that nothing orders run in the
// same order in every test, and in another one once a timer fires earlier: a fault that the order
// hides is found in production. Contract: a seed decides the order within each band of priority;
// what the API promises (channels, mutexes, events, the bytes of a connection) holds in any. Loops
// are first in, first out unless their options or WEFT_SHUFFLE=seed, which is logged, say a seed;
// the same one draws the same again.
//
//   auto loop = event_loop::create({.shuffle_seed = 17});
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft {

/// WEFT_SHUFFLE, which is read once a process: for a loop whose options name no seed. 0: there is
/// none, and it runs first in, first out. Any thread.
[[nodiscard]] std::uint64_t default_shuffle_seed();

/// As in WEFT_SHUFFLE: a whole number, decimal or after 0x.
[[nodiscard]] std::optional<std::uint64_t> parse_shuffle_seed(std::string_view text) noexcept;

}  // namespace weft
