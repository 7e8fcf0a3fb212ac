// Whether a loop runs its ready tasks in an order of chance, and what decides it.
//
// Problem: what is ready runs first in, first out, so that two tasks that nothing orders run in the
// same order in every test, and in another one once a timer fires earlier: a fault that the order
// hides is found in production. Contract: a seed decides the order within each band of priority;
// what the API promises (channels, mutexes, events, yield, the bytes of a connection) holds in any,
// and who is ready is overtaken by a few only. Debug builds draw a seed, others run first in, first
// out, unless a loop's options or WEFT_SHUFFLE say one; the same one draws the same again. The log
// says it when the first loop begins, and so does whatever tells of a failure (failure_note.hpp).
//
//   auto loop = event_loop::create({.shuffle_seed = 17});
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft {

/// For a loop whose options name no seed: WEFT_SHUFFLE, else what a debug build has drawn; one a
/// process. 0: first in, first out. Any thread.
[[nodiscard]] std::uint64_t default_shuffle_seed();

/// As in WEFT_SHUFFLE: a whole number, decimal or after 0x.
[[nodiscard]] std::optional<std::uint64_t> parse_shuffle_seed(std::string_view text) noexcept;

}  // namespace weft
