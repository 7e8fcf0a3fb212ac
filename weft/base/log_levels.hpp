// Which lines are wanted: of the whole program, and of loggers by their names.
//
// Problem: whoever looks for a fault wants one part of a program to say more, while it runs, and
// the rest to be as quiet as before; and what a line that is not wanted costs, each line costs.
// Contract: any thread, any time. The level of the whole program (log.hpp) holds where no name
// says another. A level set for "http" holds for the loggers http, http.server and all others
// below; the longest name that fits counts. Loggers ask cached_level, which takes two relaxed loads
// while no level changes.
//
//   static_cast<void>(log::set_level("http.server", log::level::debug));
//   log::level_of("http.server");  // debug
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/base/log.hpp>
#include <weft/base/result.hpp>

namespace weft::log {

inline constexpr std::size_t named_levels_max = 256;

/// From now on. errc::limit_exceeded: named_levels_max names have levels; errc::invalid_argument:
/// the name is empty.
[[nodiscard]] result<void> set_level(std::string_view name, level lowest);

/// The level of the whole program holds for all again.
void forget_named_levels() noexcept;

[[nodiscard]] level level_of(std::string_view name) noexcept;

namespace detail {

/// Counts the changes of levels, so that who has seen one need not look for it again.
extern constinit std::atomic<std::uint64_t> level_changes;

/// The level of one logger. Any thread.
class cached_level {
 public:
  /// Whether get() is still right.
  [[nodiscard]] bool is_current() const noexcept {
    return seen_.load(std::memory_order_relaxed) >> level_bits ==
           level_changes.load(std::memory_order_relaxed);
  }
  [[nodiscard]] level get() const noexcept {
    constexpr std::uint64_t mask = (1U << level_bits) - 1;
    return static_cast<level>(seen_.load(std::memory_order_relaxed) & mask);
  }
  /// Looks for what `name` has now.
  level refresh(std::string_view name) noexcept;

 private:
  static constexpr unsigned level_bits = 8;
  std::atomic<std::uint64_t> seen_{0};  // the number of a change, and the level
};

}  // namespace detail

}  // namespace weft::log
