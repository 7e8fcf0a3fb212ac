#include <weft/base/memory_budget.hpp>

#include <array>
#include <utility>

namespace weft {

std::string_view to_string(memory_kind kind) noexcept {
  static constexpr std::array<std::string_view, memory_kinds> names{
      "buffers", "requests", "bodies", "output",     "shared",
      "replies", "queries",  "caches", "connections"};
  return names[std::to_underlying(kind)];
}

memory_budget& memory_budget::of_process() noexcept {
  // Never destroyed: a loop that a thread leaves behind is a member beyond the end of main().
  static memory_budget& budget = *new memory_budget;
  return budget;
}

std::size_t memory_budget::ceiling(memory_priority of) const noexcept {
  const std::size_t all = limit();
  switch (of) {
    case memory_priority::low: return all / 2;
    case memory_priority::normal: return all - all / 4;
    case memory_priority::high: break;
  }
  return all;
}

bool memory_budget::take(std::size_t size_bytes, memory_priority as) noexcept {
  const std::size_t most = ceiling(as);
  std::size_t taken = taken_.load(std::memory_order_relaxed);
  do {
    if (taken > most || size_bytes > most - taken) return false;
  } while (!taken_.compare_exchange_weak(taken, taken + size_bytes, std::memory_order_relaxed));
  return true;
}

std::size_t memory_budget::permanent_bytes() noexcept {
  const std::lock_guard lock{mutex_};
  std::size_t bytes = 0;
  for (const member& each : members_) bytes += each.permanent_bytes();
  return bytes;
}

void memory_budget::join(member& who) {
  const std::lock_guard lock{mutex_};
  members_.push_back(who);
  count_.fetch_add(1, std::memory_order_relaxed);
}

void memory_budget::leave(member& who) {
  const std::lock_guard lock{mutex_};
  members_.erase(who);
  count_.fetch_sub(1, std::memory_order_relaxed);
}

void memory_budget::ask_for_relief(std::size_t target_bytes) noexcept {
  const std::lock_guard lock{mutex_};
  for (member& each : members_) each.ask_for_relief(target_bytes);
}

}  // namespace weft
