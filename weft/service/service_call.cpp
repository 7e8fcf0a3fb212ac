#include <weft/service/service_call.hpp>

#include <exception>
#include <utility>

#include <weft/base/log_parts.hpp>

namespace weft::detail {
namespace {

/// What `call` gives; a failure if it throws.
template <class Call>
result<void> guarded(const service_record& service, Call call) noexcept {
  try {
    return call();
  } catch (const std::exception& why) {
    log::error_of({service.title(), " threw: ", why.what()});
  } catch (...) {
    log::error_of({service.title(), " threw something that is no std::exception"});
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

/// Who goes on: the coroutine that has begun, or the caller, if there is none.
std::coroutine_handle<> service_call::begin() noexcept {
  outcome_ = guarded(service_, [this]() -> result<void> {
    work_.emplace(step_.later(service_.object));
    return {};
  });
  if (!work_) return caller_->handle();
  awaited_ = std::move(*work_).in(environment_);
  awaited_->frame.promise().await_from(*caller_, &environment_);
  return awaited_->frame;
}

void service_call::run_leg(runnable& self) noexcept {
  auto& call = static_cast<service_call&>(self);
  std::optional<lifetime::making> now{std::in_place, call.service_};
  call.making_ = &now;
  resume(call.begin());
  if (now) call.making_ = nullptr;  // it waits; else the call is over, and has gone
}

result<void> service_call::await_resume() noexcept {
  if (making_ != nullptr) making_->reset();
  if (!awaited_) return outcome_;
  return guarded(service_, [this] { return awaited_->await_resume(); });
}

}  // namespace weft::detail
