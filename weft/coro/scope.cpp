#include <weft/coro/scope.hpp>

#include <new>
#include <utility>

#include <weft/coro/scheduler.hpp>
#include <weft/coro/task_failures.hpp>

namespace weft {

scope::scope(const environment& parent, failure_policy policy) noexcept
    : stop_{parent.stop}, environment_{parent}, policy_{policy} {
  environment_.stop = stop_.token();
  parent.runs_on->enlist(*this);
}

scope::~scope() {
  WEFT_ASSERT(active_ == 0, "a scope ends after its tasks: co_await join() first");
  hook.unlink();
}

detail::promise<void>& scope::adopt(const environment& env, task<void> work) noexcept {
  WEFT_DEBUG_ASSERT(work, "a task can be spawned once only");
  auto& promise = work.release().promise();
  promise.env = &env;
  promise.owner = this;
  tasks_.push_back(promise);
  ++active_;
  return promise;
}

void scope::spawn_in(const environment& env, task<void> work, priority band) noexcept {
  environment_.runs_on->schedule(adopt(env, std::move(work)), band);
}

void scope::start_in(const environment& env, task<void> work) noexcept {
  detail::resume(adopt(env, std::move(work)).handle());
  detail::running.forget();
}

void detail::leave_scope(promise<void>& ended) noexcept { ended.owner->task_ended(ended); }

void scope::task_ended(detail::promise<void>& ended) noexcept {
  ended.spawned.unlink();
  if (ended.failure) [[unlikely]]
    note_failure(ended);
  else
    count_down();
}

void scope::count_down() noexcept {
  if (--active_ == 0 && joiner_ != nullptr)
    environment_.runs_on->schedule(*std::exchange(joiner_, nullptr), priority::normal);
}

void scope::note_failure(detail::promise<void>& ended) noexcept {
  std::exception_ptr failure = ended.failure.take();
  if (!failure_)
    failure_ = std::move(failure);
  else if (policy_ == failure_policy::collect)
    collect(std::move(failure));
  if (policy_ == failure_policy::fail_fast) stop_.request_stop();
  count_down();
}

/// One that there is no memory to keep is lost beside those that are kept.
void scope::collect(std::exception_ptr failure) noexcept {
  try {
    more_failures_.push_back(std::move(failure));
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch)
    // As said above.
  }
}

void scope::rethrow_failure() {
  if (!failure_) return;
  std::exception_ptr first = std::exchange(failure_, nullptr);
  if (policy_ == failure_policy::fail_fast) std::rethrow_exception(std::move(first));
  std::vector<std::exception_ptr> all = std::exchange(more_failures_, {});
  all.insert(all.begin(), std::move(first));
  throw task_failures{std::move(all)};
}

}  // namespace weft
