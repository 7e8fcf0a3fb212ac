#include <weft/service/service_call.hpp>

#include <coroutine>
#include <exception>
#include <format>
#include <optional>

#include <weft/base/log.hpp>

namespace weft::detail {
namespace {

result<void> failed(const service_record& service, const char* why) noexcept {
  log::error(why != nullptr
                 ? std::format("{} threw: {}", service.title(), why)
                 : std::format("{} threw something that is no std::exception", service.title()));
  return fail(errc::unavailable);
}

/// Goes on from the ready queue, where no lifetime is the current one, as a part of `made` until
/// that first waits: which is known there, since then the resumption returns.
class from_queue final : private runnable {
 public:
  explicit from_queue(lifetime* made) noexcept : runnable{&run_leg}, made_{made} {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) noexcept {
    waiting_ = waiting;
    waiting.promise().env->runs_on->schedule(*this, priority::normal);
  }
  void await_resume() const noexcept {}

 private:
  static void run_leg(runnable& self) noexcept {
    const auto& leg = static_cast<from_queue&>(self);  // ends while it resumes
    std::optional<lifetime::making> now;
    if (leg.made_ != nullptr) now.emplace(*leg.made_);
    leg.waiting_.resume();
  }

  lifetime* made_;
  std::coroutine_handle<> waiting_;
};

}  // namespace

result<void> call_now(service_record& service, result<void> (*step)(void*)) noexcept {
  try {
    const lifetime::making now{service};
    return step(service.object);
  } catch (const std::exception& why) {
    return failed(service, why.what());
  } catch (...) {
    return failed(service, nullptr);
  }
}

task<result<void>> guarded(service_record& service, task<result<void>> (*step)(void*)) {
  try {
    co_return co_await step(service.object);
  } catch (const std::exception& why) {
    co_return failed(service, why.what());
  } catch (...) {
    co_return failed(service, nullptr);
  }
}

task<result<void>> begin(service_record& service, const environment& env) {
  co_await from_queue{&service};
  const auto up = co_await guarded(service, service.kind->start).in(env);
  co_await from_queue{nullptr};
  co_return up;
}

}  // namespace weft::detail
