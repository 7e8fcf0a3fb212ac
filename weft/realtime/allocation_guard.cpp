#include <weft/realtime/allocation_guard.hpp>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <source_location>
#include <utility>

#include <weft/base/assert.hpp>
#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/coro/running_task.hpp>
#include <weft/coro/task_dump.hpp>

namespace weft::realtime {
namespace {

constinit thread_local const allocation_guard* innermost = nullptr;
constinit thread_local bool is_telling = false;  // which allocates
constinit std::atomic<bool> watched{false};

}  // namespace

allocation_guard::allocation_guard(on_allocation rule) noexcept
    : rule_{rule}, outer_{std::exchange(innermost, this)} {}

/// Those of coroutines end in any order.
allocation_guard::~allocation_guard() {
  const allocation_guard** place = &innermost;
  while (*place != this) {
    WEFT_ASSERT(*place != nullptr, "a guard ends on the thread that made it");
    place = &(*place)->outer_;
  }
  *place = outer_;
}

bool allocation_guard::is_watched() noexcept { return watched.load(std::memory_order_relaxed); }

bool allocation_guard::watch() noexcept {
  watched.store(true, std::memory_order_relaxed);
  return true;
}

void allocation_guard::note(std::size_t size_bytes) noexcept {
  const allocation_guard* const guard = innermost;
  if (guard == nullptr || guard->rule_ == on_allocation::allow || is_telling) [[likely]]
    return;
  ++guard->allocations_;
  guard->bytes_ += size_bytes;
  if (guard->rule_ == on_allocation::count) return;
  is_telling = true;
  guard->tell(size_bytes);
  is_telling = false;
}

void allocation_guard::tell(std::size_t size_bytes) const noexcept {
  try {
    const std::source_location from = detail::running.resumed_at.load(std::memory_order_relaxed);
    log::write(
        rule_ == on_allocation::abort ? log::level::error : log::level::warning,
        weft::format(
            "{} bytes are allocated on a thread that is not to allocate, by {}", size_bytes,
            from.line() == 0 ? "what is no task" : "a task, resumed in " + weft::describe(from)));
  } catch (const std::exception& why) {
    log::error(why.what());
  }
  if (rule_ == on_allocation::abort) std::abort();
}

}  // namespace weft::realtime
