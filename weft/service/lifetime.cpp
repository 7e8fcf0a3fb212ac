#include <weft/service/lifetime.hpp>

#include <cstddef>
#include <exception>

#include <weft/base/assert.hpp>
#include <weft/base/log_parts.hpp>
#include <weft/coro/deadline.hpp>
#include <weft/coro/event.hpp>
#include <weft/coro/scope.hpp>
#include <weft/coro/shielded.hpp>
#include <weft/loop/event_loop.hpp>

namespace weft {
namespace {

constinit thread_local lifetime* current_lifetime = nullptr;

/// Not the loop's stop request: tasks of services end in the order in which services do.
environment of_tasks(lifetime& owner) {
  return {.stop = {}, .until = {}, .runs_on = &event_loop::current(), .owner = &owner};
}

task<void> guarded(task<void> work, lifetime& owner) {
  try {
    co_await std::move(work);
  } catch (const std::exception& why) {
    log::error_of({"a task of ", owner.name(), " threw: ", why.what()});
  } catch (...) {
    log::error_of({"a task of ", owner.name(), " threw something that is no std::exception"});
  }
}

task<void> until_set(event& awaited) { static_cast<void>(co_await awaited.wait()); }

}  // namespace

struct lifetime::work_in_progress {
  explicit work_in_progress(lifetime& owner) : tasks{of_tasks(owner)} {}

  scope tasks;
  std::size_t uses = 0;
  event unused;  // set when the last use ends; reset by who waits
};

lifetime::lifetime(const std::string_view& name) noexcept : name_{&name} {}

lifetime::~lifetime() {
  WEFT_ASSERT(idle(), "a service ends after its tasks: co_await the container's stop() first");
  request_end();
}

lifetime* lifetime::current() noexcept { return current_lifetime; }

lifetime::making::making(lifetime& made) noexcept
    : before_{std::exchange(current_lifetime, &made)} {}

lifetime::making::~making() { current_lifetime = before_; }

lifetime::use::use(lifetime& used) : used_{&used} { ++used.work().uses; }

lifetime::use::~use() {
  if (used_ == nullptr) return;
  work_in_progress& in = *used_->work_;
  if (--in.uses == 0) in.unused.set();
}

void lifetime::attach(registration& part) noexcept {
  WEFT_DEBUG_ASSERT(part.owner_ == nullptr, "a registration has one owner");
  part.owner_ = this;
  parts_.push_back(part);
}

lifetime::work_in_progress& lifetime::work() {
  if (!work_) work_ = std::make_unique<work_in_progress>(*this);
  return *work_;
}

void lifetime::spawn(task<void> work_to_do) {
  work().tasks.spawn(guarded(std::move(work_to_do), *this));
}

bool lifetime::idle() const noexcept {
  return !work_ || (work_->tasks.active() == 0 && work_->uses == 0);
}

void lifetime::stop_tasks() noexcept {
  if (work_) work_->tasks.request_stop();
}

void lifetime::request_end() noexcept {
  while (registration* const newest = parts_.back()) {
    newest->detach();
    newest->end_(*newest);
  }
  stop_tasks();
}

task<void> lifetime::ended() {
  while (!idle()) {
    co_await work_->tasks.join();
    if (work_->uses == 0) continue;
    work_->unused.reset();
    co_await shielded(until_set(work_->unused), deadline::never());
  }
}

void lifetime::renew() noexcept {
  request_end();
  WEFT_ASSERT(idle(), "a service is made anew when its tasks have ended");
  work_.reset();
}

}  // namespace weft
