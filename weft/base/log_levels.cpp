#include <weft/base/log_levels.hpp>

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <string>
#include <vector>

namespace weft::log {

namespace detail {

constinit std::atomic<std::uint64_t> level_changes = 1;  // caches begin with 0

namespace {

constexpr std::array<std::string_view, 6> names = {"trace",   "debug", "info",
                                                   "warning", "error", "off"};

constinit std::atomic<level> program_level = level::info;

struct named_level {
  std::string name;
  level lowest;
};

struct named_levels {
  std::mutex lock;
  std::vector<named_level> all;
};

// Never destroyed: other static objects may log while they are.
named_levels& by_name() noexcept {
  alignas(named_levels) static std::byte storage[sizeof(named_levels)];
  static named_levels* const levels = ::new (static_cast<void*>(storage)) named_levels;
  return *levels;
}

bool is_or_stands_below(std::string_view name, std::string_view above) noexcept {
  return name.starts_with(above) && (name.size() == above.size() || name[above.size()] == '.');
}

void note_change() noexcept { level_changes.fetch_add(1, std::memory_order_release); }

}  // namespace

level cached_level::refresh(std::string_view name) noexcept {
  const std::uint64_t change = level_changes.load(std::memory_order_acquire);
  const level now = level_of(name);
  seen_.store(change << level_bits | static_cast<std::uint64_t>(now), std::memory_order_relaxed);
  return now;
}

}  // namespace detail

void set_level(level lowest) noexcept {
  detail::program_level.store(lowest, std::memory_order_relaxed);
  detail::note_change();
}

level current_level() noexcept { return detail::program_level.load(std::memory_order_relaxed); }

bool enabled(level at) noexcept { return at >= current_level() && at != level::off; }

result<void> set_level(std::string_view name, level lowest) {
  if (name.empty()) return fail(errc::invalid_argument);
  detail::named_levels& levels = detail::by_name();
  {
    const std::lock_guard held{levels.lock};
    const auto known = std::ranges::find(levels.all, name, &detail::named_level::name);
    if (known != levels.all.end())
      known->lowest = lowest;
    else if (levels.all.size() == named_levels_max)
      return fail(errc::limit_exceeded);
    else
      levels.all.push_back({std::string{name}, lowest});
  }
  detail::note_change();
  return {};
}

void forget_named_levels() noexcept {
  {
    const std::lock_guard held{detail::by_name().lock};
    detail::by_name().all.clear();
  }
  detail::note_change();
}

level level_of(std::string_view name) noexcept {
  detail::named_levels& levels = detail::by_name();
  const std::lock_guard held{levels.lock};
  const detail::named_level* nearest = nullptr;
  for (const detail::named_level& each : levels.all)
    if (detail::is_or_stands_below(name, each.name) &&
        (nearest == nullptr || each.name.size() > nearest->name.size()))
      nearest = &each;
  return nearest == nullptr ? current_level() : nearest->lowest;
}

std::string_view to_string(level at) noexcept {
  return detail::names[static_cast<std::size_t>(at)];
}

result<level> parse_level(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(detail::names, name);
  if (found == detail::names.end()) return fail(errc::invalid_argument);
  return static_cast<level>(found - detail::names.begin());
}

}  // namespace weft::log
