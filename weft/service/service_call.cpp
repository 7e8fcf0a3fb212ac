#include <weft/service/service_call.hpp>

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include <weft/base/log_parts.hpp>

namespace weft::detail {
namespace {

/// service_record::title() allocates, and what was thrown may be that there is no memory.
void tell(const service_record& of, std::string_view did, std::string_view what) noexcept {
  const bool has_name = !of.given_name().empty();
  const service_record* const by = of.asked_by;
  log::error_of({of.kind->name, has_name ? " \"" : "", of.given_name(), has_name ? "\"" : "",
                 by != nullptr ? " for " : "", by != nullptr ? by->kind->name : std::string_view{},
                 did, what});
}

/// What `call` gives; a failure if it throws.
template <class Call>
result<void> guarded(const service_record& service, Call call) noexcept {
  try {
    return call();
  } catch (const std::exception& why) {
    tell(service, " threw: ", why.what());
  } catch (...) {
    tell(service, " threw ", "something that is no std::exception");
  }
  return fail(errc::unavailable);
}

}  // namespace

bool service_call::await_ready() noexcept {
  if (step_.later != nullptr) return false;
  if (step_.now == nullptr) return true;
  const lifetime::making now{service_};
  outcome_ = guarded(service_, [this] { return step_.now(service_.object); });
  return true;
}

/// Who goes on: the coroutine that has begun, or the caller, if there is none; nobody, where it is
/// to be tried again.
std::coroutine_handle<> service_call::begin() noexcept {
  outcome_ = guarded(service_, [this]() -> result<void> {
    try {
      work_.emplace(step_.later(service_.object));
      lacks_memory_ = false;
    } catch (const std::bad_alloc&) {
      if (without_ == no_memory::fails) throw;
      lacks_memory_ = true;
    }
    return {};
  });
  if (lacks_memory_) return nullptr;
  if (!work_) return caller_->handle();
  awaited_ = std::move(*work_).in(environment_);
  awaited_->frame.promise().await_from(*caller_, &environment_);
  return awaited_->frame;
}

void service_call::run_leg(runnable& self) noexcept {
  auto& call = static_cast<service_call&>(self);
  std::optional<lifetime::making> now{std::in_place, call.service_};
  call.making_ = &now;
  const std::coroutine_handle<> next = call.begin();
  if (next == nullptr) {
    call.making_ = nullptr;
    return call.environment_.runs_on->schedule(call, priority::low);
  }
  resume(next);
  if (now) call.making_ = nullptr;  // it waits; else the call is over, and has gone
}

result<void> service_call::await_resume() noexcept {
  if (making_ != nullptr) making_->reset();
  if (!awaited_) return outcome_;
  return guarded(service_, [this] { return awaited_->await_resume(); });
}

}  // namespace weft::detail
