#include <weft/coro/scope.hpp>

#include <utility>

namespace weft {

scope::scope(const environment& parent) noexcept
    : stop_{parent.stop},
      environment_{.stop = stop_.token(), .until = parent.until, .runs_on = parent.runs_on} {}

scope::~scope() {
  WEFT_ASSERT(active_ == 0, "a scope ends after its tasks: co_await join() first");
}

void scope::spawn_in(const environment& env, task<void> work, priority band) noexcept {
  WEFT_DEBUG_ASSERT(work, "a task can be spawned once only");
  auto& promise = work.release().promise();
  promise.env = &env;
  promise.owner = this;
  ++active_;
  environment_.runs_on->schedule(promise, band);
}

void scope::task_ended(std::coroutine_handle<> frame, std::exception_ptr failure) noexcept {
  frame.destroy();
  if (failure && !failure_) {
    failure_ = std::move(failure);
    stop_.request_stop();
  }
  if (--active_ == 0 && joiner_ != nullptr)
    environment_.runs_on->schedule(*std::exchange(joiner_, nullptr), priority::normal);
}

void scope::rethrow_failure() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace weft
