#include <weft/loop/blocking.hpp>

#include <new>
#include <system_error>

#include <weft/base/format.hpp>
#include <weft/base/log.hpp>
#include <weft/loop/backend.hpp>
#include <weft/loop/blocking_pool.hpp>
#include <weft/loop/memory_return.hpp>
#include <weft/loop/thread_place.hpp>

namespace weft {
namespace detail {

bool blocking_call::begin(std::coroutine_handle<> waiting, const environment& env) {
  if (env.stop.stop_requested()) return refuse(errc::cancelled);
  if (env.until.passed(home_.now())) return refuse(errc::timed_out);
  if (!home_.has_threads()) {
    work_(*this);
    return false;
  }
  waiting_ = waiting;
  if (const auto taken = home_.blocking_threads().submit(*this); !taken)
    return refuse(taken.error());
  env.stop.subscribe(*this);
  if (!env.until.is_never()) home_.timers().arm(*this, env.until.when());
  return true;
}

bool blocking_call::refuse(error why) noexcept {
  refusal_ = why;
  return false;
}

void blocking_call::give_up(errc why) noexcept {
  if (!home_.blocking_threads().take_back(*this)) return;
  refusal_ = why;
  home_.schedule(*this);
}

void blocking_call::on_stop(stop_registration& self) noexcept {
  static_cast<blocking_call&>(self).give_up(errc::cancelled);
}

void blocking_call::on_deadline(timer& self) noexcept {
  static_cast<blocking_call&>(self).give_up(errc::timed_out);
}

void blocking_call::on_run(runnable& self) noexcept {
  auto& call = static_cast<blocking_call&>(self);
  call.stop_registration::disarm();
  call.home_.timers().disarm(call);
  resume(call.waiting_);
}

}  // namespace detail

blocking_pool::blocking_pool(event_loop& home, unsigned threads_max, std::size_t line_max)
    : home_{home}, threads_max_{threads_max}, line_max_{line_max} {
  WEFT_ASSERT(threads_max > 0, "blocking() needs a thread: loop_options::blocking_threads");
  threads_.reserve(threads_max);
}

blocking_pool::~blocking_pool() {
  {
    const std::lock_guard lock{mutex_};
    ends_ = true;
  }
  filled_.notify_all();
  for (std::thread& each : threads_) each.join();
}

result<void> blocking_pool::submit(detail::blocking_call& call) {
  bool wants_thread = false;
  {
    const std::lock_guard lock{mutex_};
    if (waiting_ >= line_max_) return fail(errc::limit_exceeded);
    line_.push_back(call);
    wants_thread = ++waiting_ > idle_ && threads_.size() < threads_max_;
  }
  filled_.notify_one();
  if (!wants_thread) return {};
  const auto added = add_thread();
  // Any thread will come to it in the end, but there must be one.
  if (added || !threads_.empty() || !take_back(call)) return {};
  return added;
}

bool blocking_pool::take_back(detail::blocking_call& call) noexcept {
  const std::lock_guard lock{mutex_};
  if (!call.in_line_.is_linked()) return false;
  line_.erase(call);
  --waiting_;
  return true;
}

result<void> blocking_pool::add_thread() {
  try {
    unpin_thread(threads_.emplace_back([this] { work(); }).native_handle());
    return {};
  } catch (const std::system_error& why) {
    log::warning(
        weft::format("blocking() has no more than {} threads: {}", threads_.size(), why.what()));
    return fail(error{errc::exhausted, why.code().value()});
  } catch (const std::bad_alloc&) {
    return fail(errc::exhausted);
  }
}

void blocking_pool::trim_heaps() noexcept {
  {
    const std::lock_guard lock{mutex_};
    ++trims_;
  }
  filled_.notify_all();
}

void blocking_pool::work() {
  place_thread({.name = "blocking", .index = home_.shard(), .nice_more = nice_beside_loop});
  std::unique_lock lock{mutex_};
  for (std::size_t trimmed = trims_;;) {
    ++idle_;
    filled_.wait(lock, [&] { return ends_ || !line_.empty() || trims_ != trimmed; });
    --idle_;
    detail::blocking_call* const call = line_.pop_front();
    if (call == nullptr && ends_) return;
    if (call == nullptr) {
      trimmed = trims_;
      lock.unlock();
      trim_end_of_thread_heap();
      lock.lock();
      continue;
    }
    --waiting_;
    lock.unlock();
    call->work_(*call);
    home_.post(*call);
    lock.lock();
  }
}

}  // namespace weft
