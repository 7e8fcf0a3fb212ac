#include <weft/base/log.hpp>

#include <weft/base/assert.hpp>
#include <weft/base/log_output.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>

namespace weft::log {

namespace {

// The user's sink. Writers hold the lock shared while they are inside it, so that taking the lock
// for a change waits for them. They queue for it at `turnstile`, which a change holds while it
// waits: some shared mutexes (glibc's) let readers pass it for ever. `has_target` lets the default
// sink, the usual one, go without either.
struct sink_slot {
  std::mutex turnstile;
  std::shared_mutex lock;
  sink target = nullptr;
  void* context = nullptr;
  std::atomic<bool> has_target = false;
};

// Never destroyed: other static objects may log while they are.
sink_slot& user_sink() noexcept {
  alignas(sink_slot) static std::byte storage[sizeof(sink_slot)];
  static sink_slot* const slot = ::new (static_cast<void*>(storage)) sink_slot;
  return *slot;
}

std::shared_lock<std::shared_mutex> lock_for_writing(sink_slot& slot) noexcept {
  const std::lock_guard turn(slot.turnstile);
  return std::shared_lock(slot.lock);
}

constinit thread_local bool inside_sink = false;

/// What sinks get of a logger's line.
std::string with_name(const entry& said) {
  std::string text{said.logger};
  text += ": ";
  return text += said.message;
}

void call(sink target, void* context, const entry& said) noexcept {
  if (said.logger.empty()) return target(said.at, said.message, context);
  try {
    target(said.at, with_name(said), context);
  } catch (const std::bad_alloc&) {
    target(said.at, said.message, context);
  }
}

}  // namespace

void set_sink(sink target, void* context) noexcept {
  WEFT_ASSERT(!inside_sink, "a sink cannot replace the sink: it would wait for itself");
  sink_slot& slot = user_sink();
  const std::lock_guard turn(slot.turnstile);
  const std::lock_guard exclusive(slot.lock);
  slot.target = target;
  slot.context = context;
  slot.has_target.store(target != nullptr, std::memory_order_release);
}

void write(const entry& said) noexcept {
  WEFT_DEBUG_ASSERT(said.at != level::off, "off is a threshold, not the level of a message");
  const int errno_before = errno;
  sink_slot& slot = user_sink();
  if (inside_sink || !slot.has_target.load(std::memory_order_acquire)) {
    detail::log_output::to_stderr().write(said);
  } else {
    const auto shared = lock_for_writing(slot);
    if (slot.target == nullptr) {  // replaced meanwhile
      detail::log_output::to_stderr().write(said);
    } else {
      inside_sink = true;
      call(slot.target, slot.context, said);
      inside_sink = false;
    }
  }
  errno = errno_before;
}

void write(level at, std::string_view message) noexcept {
  if (enabled(at)) write(entry{at, {}, message});
}

void set_formatter(formatter look) noexcept { detail::log_output::to_stderr().set_formatter(look); }

std::uint64_t lines_lost() noexcept { return detail::log_output::to_stderr().lost(); }

}  // namespace weft::log
