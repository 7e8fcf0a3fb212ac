#include <weft/service/container.hpp>

#include <format>
#include <stdexcept>
#include <string>

#include <weft/base/log.hpp>
#include <weft/service/service_call.hpp>

namespace weft {

using detail::service_record;

container::container() = default;

container::~container() = default;

void* container::resolve(detail::interface_key& interface) {
  const detail::provision* found = graph_.find(interface);
  if (found == nullptr || found->object == nullptr) {
    const auto made = graph_.make_all();
    found = graph_.find(interface);
    if ((found == nullptr || found->object == nullptr) && !made)
      throw std::logic_error{graph_.complaints().front()};
  }
  if (found == nullptr || found->object == nullptr)
    throw std::logic_error{std::format(
        "the program needs {0}, which nobody provides: add<{0}>() is missing", interface.name)};
  return found->object;
}

task<result<void>> container::start() {
  if (const auto made = graph_.make_all(); !made) {
    for (const std::string& each : graph_.complaints()) log::error(each);
    co_return made;
  }
  environment own = co_await this_task::environment();
  while (service_record* const next = graph_.made_after(last_started_)) {
    const detail::service_kind& kind = *next->kind;
    if (kind.start_now != nullptr || kind.start != nullptr) {
      own.owner = next;
      result<void> up;
      if (kind.start == nullptr)
        up = detail::call_now(*next, kind.start_now);
      else
        up = co_await detail::begin(*next, own);
      if (!up) {
        log::error(
            std::format("{} did not start: {}", graph_.path_of(*next), up.error().message()));
        co_return up;
      }
    }
    next->state = detail::service_state::started;
    last_started_ = next;
  }
  co_return result<void>{};
}

std::string_view container::stopping() const noexcept {
  const detail::service_kind* now = stopping_.load(std::memory_order_acquire);
  return now == nullptr ? std::string_view{} : now->name;
}

std::optional<std::size_t> container::connections() {
  std::optional<std::size_t> sum;
  for (service_record* each = graph_.made_after(nullptr); each != nullptr;
       each = graph_.made_after(each))
    if (each->kind->connections != nullptr)
      sum = sum.value_or(0) + each->kind->connections(each->object);
  return sum;
}

/// What waits: a stop() that is a task, and the end of the service's own tasks.
task<result<void>> container::stop_slowly(service_record& service) {
  const detail::service_kind& kind = *service.kind;
  auto outcome =
      kind.stop_now != nullptr ? detail::call_now(service, kind.stop_now) : result<void>{};
  if (kind.stop != nullptr) outcome = co_await detail::guarded(service, kind.stop);
  service.stop_tasks();
  co_await service.ended();
  co_return outcome;
}

task<result<void>> container::stop() {
  co_await end_tasks(last_started_);  // of those that were made and not started
  result<void> outcome;
  while (service_record* const last = last_started_) {
    const detail::service_kind& kind = *last->kind;
    last_started_ = graph_.made_before(*last);
    last->state = detail::service_state::made;
    result<void> down;
    stopping_.store(&kind, std::memory_order_release);
    if (kind.stop != nullptr || !last->idle())
      down = co_await stop_slowly(*last);
    else if (kind.stop_now != nullptr)
      down = detail::call_now(*last, kind.stop_now);
    stopping_.store(nullptr, std::memory_order_relaxed);
    if (down) continue;
    log::warning(std::format("{} did not stop cleanly: {}", last->title(), down.error().message()));
    if (outcome) outcome = down;
  }
  co_await end_tasks(nullptr);  // that came to others while the rest stopped
  co_return outcome;
}

/// Of the services made after `first`, the last first.
task<void> container::end_tasks(service_record* first) {
  for (service_record* each = graph_.last_made(); each != first; each = graph_.made_before(*each)) {
    if (each->idle()) continue;
    stopping_.store(each->kind, std::memory_order_release);
    each->stop_tasks();
    co_await each->ended();
  }
  stopping_.store(nullptr, std::memory_order_relaxed);
}

}  // namespace weft
